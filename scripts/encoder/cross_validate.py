#!/usr/bin/env python3
"""Scores every source with an encoder that has not seen it. Prints numbers only, never text.

usage: cross_validate.py FOLDER OUT

FOLDER is what prepare.ts and base.py wrote. The sources are divided into folds, and for each fold one teacher is trained without its
sources and without disguised copies. OUT gets held-out.jsonl.gz: for each fold the numbers of its rows, their logits, and the logits of
unlabelled turns, which give the scale of that teacher. cross-validate.ts reads it. Needs torch with a GPU, numpy and tokenizers. About four minutes on one H200."""
import gzip
import json
import multiprocessing
import pickle
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from train import TEACHERS, TEACHER_STEPS, Mixture, known_labels_loss, load, optimise, report, weights_of

FOLDS = 5
POOL_TURNS = 4_000


def folds_of(sources):
    """Each source in one fold, the largest first, into the fold with the fewest rows."""
    counts = Counter(source for source in sources if source != 'disguised')
    folds, sizes = {'disguised': -1}, [0] * FOLDS
    for source, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        folds[source] = sizes.index(min(sizes))
        sizes[folds[source]] += count
    return folds


def hold_out(folder, work, fold):
    import torch
    from model import Encoder, load_base, logits_of

    started, settings = time.time(), TEACHERS[5]
    torch.set_num_threads(2)
    torch.manual_seed(settings['seed'] + fold)
    sets = pickle.loads((work / 'sets.pickle').read_bytes())
    train = sets['train']
    folds = folds_of(train['sources'])
    without = {source for source, number in folds.items() if number in (fold, -1)}
    model = load_base(Encoder('mean and max'), folder / 'base.npz').cuda()
    weights, harmless = weights_of(train, without)
    mixture = Mixture(train['texts'], train['labels'], weights, harmless, seed=90 + fold)
    optimise(model, mixture.batches(TEACHER_STEPS), steps=TEACHER_STEPS, settings=settings, loss_of=known_labels_loss)
    rows = [number for number, source in enumerate(train['sources']) if folds[source] == fold]
    logits = logits_of(model, [train['texts'][number] for number in rows])[0]
    pool = logits_of(model, sets['pool']['texts'][:POOL_TURNS])[0]
    np.savez(work / f'fold-{fold}.npz', rows=np.array(rows), logits=logits, pool=pool)
    report(f'fold {fold}', model, sets, started)


def main(folder, out):
    folder, out = Path(folder), Path(out)
    work = out / 'work'
    work.mkdir(parents=True, exist_ok=True)
    sets = load(folder)
    (work / 'sets.pickle').write_bytes(pickle.dumps(sets))
    with multiprocessing.get_context('spawn').Pool(FOLDS, maxtasksperchild=1) as processes:
        processes.starmap(hold_out, [(folder, work, fold) for fold in range(FOLDS)], chunksize=1)
    with gzip.open(out / 'held-out.jsonl.gz', 'wt') as lines:
        for fold in range(FOLDS):
            part = np.load(work / f'fold-{fold}.npz')
            numbers = {name: np.round(part[name].astype(float), 3).tolist() for name in ('logits', 'pool')}
            lines.write(json.dumps({'fold': fold, 'rows': part['rows'].tolist(), **numbers}) + '\n')


if __name__ == '__main__':
    main(*sys.argv[1:3])
