#!/usr/bin/env python3
"""Writes a student as an int8 ONNX model.

usage: export.py STUDENT.npz MODEL.onnx

Matrix products take int8 weights (of seven bits) with one scale per output, and activations that are quantised on the fly. Word vectors are
int8 with one scale per word piece. The weights are in MODEL.onnx.data, because then the run time needs less memory.
Input: `ids`, int64 [1, T], without padding. Output: `logits`, float [1, labels], in the order of LABELS in model.py. Needs numpy
and onnx, no torch. The model runs on ONNX Runtime only: it has nodes of its domain com.microsoft."""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS = 384, 12


def seven_bits(matrix, scale):
    """Processors without VNNI add pairs of products in 16 bits. With weights of eight bits that overflows."""
    values = matrix.astype(np.float32) * scale
    coarser = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-8) / 63
    return np.round(values / coarser).astype(np.int8), coarser.astype(np.float32)


class Graph:
    def __init__(self, weights):
        self.weights, self.nodes, self.constants = weights, [], []

    def constant(self, value):
        name = f'constant{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind, *inputs, outputs=1, **attributes):
        names = [f'{kind}{len(self.nodes)}_{at}' for at in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def float_matrix(self, name):
        return self.weights[f'{name}|int8'].astype(np.float32) * self.weights[f'{name}|scale']

    def linear(self, x, names):
        """The product with several matrices side by side."""
        packed = [(self.weights[f'{name}.weight|int8'], self.weights[f'{name}.weight|scale']) for name in names]
        matrix, scale = (np.concatenate(parts) for parts in zip(*[seven_bits(*pair) for pair in packed]))
        bias = np.concatenate([self.weights[f'{name}.bias'] for name in names])
        quantised, step, zero = self.add('DynamicQuantizeLinear', x, outputs=3)
        no_offset = self.constant(np.zeros(len(matrix), np.int8))
        product = self.add('MatMulInteger', quantised, self.constant(matrix.T), zero, no_offset)
        scaled = self.add('Mul', self.add('Cast', product, to=TensorProto.FLOAT), self.add('Mul', step, self.constant(scale.reshape(-1))))
        return self.add('Add', scaled, self.constant(bias))

    def norm(self, x, name):
        weight, bias = (self.constant(self.weights[f'{name}.{part}']) for part in ('weight', 'bias'))
        return self.add('LayerNormalization', x, weight, bias, axis=-1, epsilon=1e-12)

    def embed(self):
        words = self.add('Cast', self.add('Gather', self.constant(self.weights['words.weight|int8']), 'ids'), to=TensorProto.FLOAT)
        words = self.add('Mul', words, self.add('Gather', self.constant(self.weights['words.weight|scale']), 'ids'))
        length = self.add('Shape', 'ids', start=1, end=2)
        first = self.constant(np.array([0]))
        positions = self.add('Slice', self.constant(self.float_matrix('positions.weight')), first, length, first)
        return self.norm(self.add('Add', words, positions), 'norm')

    def attend(self, x, layer):
        """One node of the run time's own instead of eight standard ones: it is faster and needs less memory."""
        together = self.linear(x, [f'{layer}.{part}' for part in ('query', 'key', 'value')])
        parts = self.add('Split', together, outputs=3, axis=-1, num_outputs=3)
        attended = self.add('MultiHeadAttention', *parts, domain='com.microsoft', num_heads=HEADS)
        return self.linear(attended, [f'{layer}.output'])

    def layer(self, x, layer):
        x = self.norm(self.add('Add', x, self.attend(x, layer)), f'{layer}.attention_norm')
        inner = self.add('Gelu', self.linear(x, [f'{layer}.up']))
        return self.norm(self.add('Add', x, self.linear(inner, [f'{layer}.down'])), f'{layer}.output_norm')

    def head(self, x):
        axis = self.constant(np.array([1]))
        pooled = [self.add(kind, x, axis, keepdims=0) for kind in ('ReduceMean', 'ReduceMax')]
        product = self.add('MatMul', self.add('Concat', *pooled, axis=-1), self.constant(self.weights['head.weight'].T))
        self.add('Add', product, self.constant(self.weights['head.bias']))
        self.nodes[-1].output[0] = 'logits'


def main(source, target):
    weights = dict(np.load(source))
    graph = Graph(weights)
    x = graph.embed()
    layers = 1 + max(int(name.split('.')[1]) for name in weights if name.startswith('layers.'))
    for number in range(layers):
        x = graph.layer(x, f'layers.{number}')
    graph.head(x)
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            'moderation-encoder',
            [helper.make_tensor_value_info('ids', TensorProto.INT64, [1, 'tokens'])],
            [helper.make_tensor_value_info('logits', TensorProto.FLOAT, [1, len(weights['head.bias'])])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid('', 20), helper.make_opsetid('com.microsoft', 1)],
        ir_version=9,
    )
    onnx.checker.check_model(model)
    weights_file = f'{os.path.basename(target)}.data'
    path = os.path.join(os.path.dirname(target), weights_file)
    if os.path.exists(path):
        os.remove(path)
    onnx.save(model, target, save_as_external_data=True, location=weights_file, size_threshold=4096)
    print(f'{layers} layers, {os.path.getsize(target)} bytes and {os.path.getsize(path)} of weights')


if __name__ == '__main__':
    main(*sys.argv[1:3])
