#!/usr/bin/env python3
"""Fine-tunes six teachers, collects their opinions, and distils them into one student. Prints numbers only, never text.

usage: train.py FOLDER OUT

FOLDER is what prepare.ts and base.py wrote. OUT gets student.npz. Needs torch with a GPU, numpy and tokenizers. About seven
minutes on one H200. Why these steps: docs/decisions/0016-encoder-training.md."""
import gzip
import json
import multiprocessing
import pickle
import sys
import time
from pathlib import Path

import numpy as np

LABEL_COUNT = 8
ANY = 6
FULL_STOP = 1012
BATCH = 96

# How often the rows of a source are drawn, relative to the others.
SOURCE_WEIGHTS = {
    'davidson': 0.5,
    'toxic_spans': 0.5,
    'coco': 0.4,
    'mhc': 0.1,
    'disguised': 0.4,
    'i2p': 1.2,
    'ailuminate': 3,
    'advbench': 2,
    'harmbench': 2,
    'malinstruct': 2,
    'authored/technical': 0.5,
    'authored/moderation-code': 0.5,
    'authored/responses': 0.7,
    'authored/hard-negatives': 1.5,
    'authored/reports': 1.5,
    'authored/double-meanings': 1.5,
    'authored/self-harm': 1.5,
    'authored/slang': 3,
    'authored/sexual': 3,
    'authored/minors': 0.7,
    'authored/low-mood': 2,
    'authored/counselling': 2,
    'authored/teens': 2,
    'authored/culture-and-courts': 2,
    'authored/crisis-statements': 2,
    'authored/prompt-injection': 0.7,
    'authored/prompt-injection-neighbours': 0.7,
}
SEXUAL_WEIGHT = 2
POOL_WEIGHT = 3

# Different enough to disagree. More than 1,000 steps learn the sources instead of the labels.
TEACHERS = [
    {'seed': 51, 'rate': 7e-5, 'decay': 0.85, 'frozen words': True},
    {'seed': 52, 'rate': 7e-5, 'decay': 0.85, 'without': ['davidson']},
    {'seed': 53, 'rate': 7e-5, 'decay': 0.85, 'without': ['mhc'], 'length': 256, 'composed': 0.5},
    {'seed': 54, 'rate': 5e-5, 'decay': 1, 'without': ['davidson']},
    {'seed': 55, 'rate': 1e-4, 'decay': 0.85, 'frozen words': True, 'pooling': 'mean'},
    {'seed': 56, 'rate': 7e-5, 'decay': 0.85},
]
TEACHER_STEPS = 1_000
OPINIONS = 220_000
OPINION_LENGTH = 208
# The student starts from the first teacher and shares its frozen word vectors.
STUDENT = {'seed': 5, 'rate': 5e-5, 'decay': 0.9, 'frozen words': True}
STUDENT_STEPS = 2_600
LABEL_SHARE = 0.3
COSINE_WEIGHT = 0.3


def read_rows(path):
    with gzip.open(path, 'rt', encoding='utf-8') as lines:
        return [json.loads(line) for line in lines]


def load(folder):
    """Token ids and labels of all sets; what is not labelled is NaN."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / 'tokenizer.json'))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    sets = {}
    for name in ('train', 'pool', 'dev'):
        rows = read_rows(folder / f'{name}.jsonl.gz')
        encoded = tokenizer.encode_batch([row['text'] for row in rows], add_special_tokens=False)
        sets[name] = {
            'texts': [np.array(text.ids[:8192], np.int32) for text in encoded],
            'labels': np.array([row['labels'] for row in rows], np.float32),
            'sources': [row['source'] for row in rows],
        }
    return sets


class Mixture:
    """Draws rows by weight. Some are set among harmless rows, so that long texts are learnt too."""

    def __init__(self, texts, labels, weights, harmless, *, seed, length=128, composed=0.35, dropped=0.03):
        self.texts, self.labels, self.harmless = texts, labels, harmless
        self.chances = weights / weights.sum()
        self.length, self.composed, self.dropped = length, composed, dropped
        self.random = np.random.default_rng(seed)

    def draw(self, count):
        return self.random.choice(len(self.texts), count, p=self.chances)

    def compose(self, number):
        random, room = self.random, self.length - 2
        text = self.texts[number]
        if random.random() < self.composed and len(text) < room - 14:
            text = self.among_harmless(text, room)
        elif len(text) > room and random.random() > 0.6:
            text = text[int(random.integers(0, len(text) - room + 1)) :]
        if len(text) > 8 and random.random() < 0.5:
            text = text[random.random(len(text)) > self.dropped]
        return text[:room]

    def among_harmless(self, text, room):
        before, after = [], []
        for number in self.random.choice(self.harmless, int(self.random.integers(1, 6))):
            (before if self.random.random() < 0.5 else after).append(np.append(self.texts[number], FULL_STOP))
        size = lambda: len(text) + 1 + sum(map(len, before)) + sum(map(len, after))
        while size() > room and (before or after):
            (before or after).pop(0 if before else -1)
        return np.concatenate([*before, np.append(text, FULL_STOP), *after])

    def batches(self, steps):
        import torch
        from model import padded

        together = 32
        for _ in range(-(-steps // together)):
            drawn = self.draw(BATCH * together)
            texts = [self.compose(number) for number in drawn]
            for chosen in similar_lengths(texts, self.random):
                yield *padded([texts[at] for at in chosen]), torch.from_numpy(self.labels[drawn[chosen]])


def similar_lengths(texts, random):
    """Batches of texts of about the same length, in a random order."""
    order = np.argsort([len(text) for text in texts], kind='stable')
    groups = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
    random.shuffle(groups)
    return groups


def weights_of(train, without=()):
    weights = np.array([SOURCE_WEIGHTS.get(source, 1) for source in train['sources']], np.float64)
    weights *= np.where(train['labels'][:, 0] == 1, SEXUAL_WEIGHT, 1)
    weights[[source in without for source in train['sources']]] = 0
    noisy = {'davidson', 'toxic_spans', 'disguised'}
    is_harmless = train['labels'][:, ANY] == 0
    harmless = [
        number
        for number, source in enumerate(train['sources'])
        if is_harmless[number] and source not in noisy and source not in without
    ]
    return weights, np.array(harmless)


def optimise(model, batches, *, steps, settings, loss_of):
    import torch

    depth_of = lambda name: (
        int(name.split('.')[1]) + 1 if name.startswith('layers') else 13 if name.startswith('head') else 0
    )
    groups = []
    for name, parameter in model.named_parameters():
        if name.startswith('words') and settings.get('frozen words'):
            parameter.requires_grad_(False)
            continue
        is_head = name.startswith('head')
        rate = settings['rate'] * (10 if is_head else settings['decay'] ** (12 - depth_of(name)))
        groups.append({'params': [parameter], 'lr': rate})
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    warm_up = 0.06 * steps
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / warm_up) * max(0, 1 - step / steps)
    )
    model.train()
    for step, (ids, mask, *targets) in enumerate(batches):
        if step == steps:
            break
        with torch.autocast('cuda', torch.bfloat16):
            logits, mean = model(ids.cuda(), mask.cuda())
        loss = loss_of(logits.float(), mean.float(), *[target.cuda() for target in targets])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()


def known_labels_loss(logits, _mean, labels):
    import torch

    known = ~torch.isnan(labels)
    losses = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels.nan_to_num(), reduction='none')
    return (losses * known).sum() / known.sum().clamp(min=1)


def teach(folder, work, number):
    import torch
    from model import Encoder, load_base

    settings, started = TEACHERS[number], time.time()
    torch.set_num_threads(2)
    torch.manual_seed(settings['seed'])
    sets = pickle.loads((work / 'sets.pickle').read_bytes())
    train = sets['train']
    model = load_base(Encoder(settings.get('pooling', 'mean and max')), folder / 'base.npz').cuda()
    weights, harmless = weights_of(train, settings.get('without', ()))
    mixture = Mixture(
        train['texts'],
        train['labels'],
        weights,
        harmless,
        seed=settings['seed'],
        length=settings.get('length', 128),
        composed=settings.get('composed', 0.35),
    )
    optimise(model, mixture.batches(TEACHER_STEPS), steps=TEACHER_STEPS, settings=settings, loss_of=known_labels_loss)
    torch.save({name: tensor.half() for name, tensor in model.state_dict().items()}, work / f'teacher-{number}.pt')
    report(f'teacher {number}', model, sets, started)


def restored(work, number):
    import torch
    from model import Encoder

    model = Encoder(TEACHERS[number].get('pooling', 'mean and max'))
    state = torch.load(work / f'teacher-{number}.pt')
    model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    return model.cuda()


def collect_opinions(work, sets):
    """What the teachers say on average to composed texts, of labelled rows and of unlabelled turns."""
    from model import logits_of

    train, pool = sets['train'], sets['pool']
    weights, harmless = weights_of(train)
    mixture = Mixture(
        train['texts'] + pool['texts'],
        np.concatenate([train['labels'], np.full((len(pool['texts']), LABEL_COUNT), np.nan, np.float32)]),
        np.concatenate([weights, np.full(len(pool['texts']), POOL_WEIGHT)]),
        harmless,
        seed=77,
        length=OPINION_LENGTH,
        composed=0.45,
        dropped=0.02,
    )
    drawn = mixture.draw(OPINIONS)
    texts = [mixture.compose(number) for number in drawn]
    total, means, on_dev = 0, None, 0
    for number in range(len(TEACHERS)):
        model = restored(work, number)
        logits, vectors = logits_of(model, texts)
        total = total + logits / len(TEACHERS)
        means = vectors if number == 0 else means
        on_dev = on_dev + logits_of(model, sets['dev']['texts'])[0] / len(TEACHERS)
    print('teachers together', figures(on_dev, sets['dev']['labels']), flush=True)
    return texts, mixture.labels[drawn], (1 / (1 + np.exp(-total))).astype(np.float32), means


class Opinions:
    def __init__(self, texts, labels, opinions, means):
        known = ~np.isnan(labels)
        self.texts, self.means = texts, means
        self.targets = np.where(
            known, LABEL_SHARE * np.nan_to_num(labels) + (1 - LABEL_SHARE) * opinions, opinions
        ).astype(np.float32)
        self.random = np.random.default_rng(STUDENT['seed'])

    def batches(self):
        import torch
        from model import padded

        together = 32 * BATCH
        while True:
            order = self.random.permutation(len(self.texts))
            for start in range(0, len(order) - together + 1, together):
                part = order[start : start + together]
                for group in similar_lengths([self.texts[number] for number in part], self.random):
                    chosen = part[group]
                    means = torch.from_numpy(self.means[chosen].astype(np.float32))
                    yield *padded([self.texts[at] for at in chosen]), torch.from_numpy(self.targets[chosen]), means


def distil(work, sets, opinions):
    import torch

    def loss_of(logits, mean, targets, teacher_means):
        fit = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets)
        return fit + COSINE_WEIGHT * (1 - torch.nn.functional.cosine_similarity(mean, teacher_means, dim=-1)).mean()

    started = time.time()
    torch.manual_seed(STUDENT['seed'])
    model = restored(work, 0)
    optimise(model, Opinions(*opinions).batches(), steps=STUDENT_STEPS, settings=STUDENT, loss_of=loss_of)
    report('student', model, sets, started)
    return model


def report(name, model, sets, started):
    from model import logits_of

    scores = figures(logits_of(model, sets['dev']['texts'])[0], sets['dev']['labels'])
    print(f'{name}: {time.time() - started:.0f} s, average precision on dev', scores, flush=True)


def figures(logits, labels):
    from model import LABELS

    known = lambda at: ~np.isnan(labels[:, at])
    return {
        label: round(average_precision(logits[known(at), at], labels[known(at), at]), 3)
        for at, label in enumerate(LABELS)
        if np.nansum(labels[:, at]) > 0
    }


def average_precision(scores, labels):
    hits = labels[np.argsort(-scores, kind='stable')]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1) * hits).sum() / hits.sum())


def pack(model, path):
    """Matrices as int8 with one scale per output, the rest as float32: what export.py writes into the model file."""
    packed = {}
    for name, tensor in model.state_dict().items():
        value = tensor.float().cpu().numpy()
        if value.ndim == 2 and not name.startswith('head'):
            scale = np.maximum(np.abs(value).max(axis=1, keepdims=True), 1e-8) / 127
            packed[f'{name}|int8'] = np.round(value / scale).astype(np.int8)
            packed[f'{name}|scale'] = scale.astype(np.float32)
        else:
            packed[name] = value.astype(np.float32)
    np.savez(path, **packed)


def main(folder, out):
    folder, out = Path(folder), Path(out)
    work = out / 'work'
    work.mkdir(parents=True, exist_ok=True)
    sets = load(folder)
    (work / 'sets.pickle').write_bytes(pickle.dumps(sets))
    print({name: len(part['texts']) for name, part in sets.items()}, flush=True)
    with multiprocessing.get_context('spawn').Pool(len(TEACHERS), maxtasksperchild=1) as processes:
        processes.starmap(teach, [(folder, work, number) for number in range(len(TEACHERS))], chunksize=1)
    pack(distil(work, sets, collect_opinions(work, sets)), out / 'student.npz')


if __name__ == '__main__':
    main(*sys.argv[1:3])
