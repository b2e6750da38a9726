"""The encoder: BERT's layers with one linear head over the mean and the maximum of the last layer. Needs torch and numpy."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional

LABELS = ['sexual', 'hate', 'harassment', 'self-harm', 'illicit', 'sexual/minors', 'any', 'prompt_injection']
CLS, SEP = 101, 102
WIDTH, HEADS, INNER, PIECES, POSITIONS, LAYERS = 384, 12, 1536, 30522, 512, 12


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.attention_norm, self.output_norm = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, bias):
        batch, length, _ = x.shape
        split = lambda linear: linear(x).view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
        attended = functional.scaled_dot_product_attention(
            split(self.query), split(self.key), split(self.value), attn_mask=bias.to(x.dtype)
        )
        attended = self.output(attended.transpose(1, 2).reshape(batch, length, WIDTH))
        x = self.attention_norm(x + self.dropout(attended))
        return self.output_norm(x + self.dropout(self.down(functional.gelu(self.up(x)))))


class Encoder(nn.Module):
    def __init__(self, pooling='mean and max'):
        super().__init__()
        self.pooling = pooling
        self.words, self.positions = nn.Embedding(PIECES, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.norm, self.dropout = nn.LayerNorm(WIDTH, 1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH * (1 if pooling == 'mean' else 2), len(LABELS))

    def forward(self, ids, mask):
        """Returns the logits, and the mean vector of the last layer."""
        x = self.dropout(self.norm(self.words(ids) + self.positions.weight[: ids.shape[1]]))
        present = mask.to(x.dtype)
        bias = ((1 - present) * -1e4)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, bias)
        present = present[..., None]
        mean = (x * present).sum(1) / present.sum(1).clamp(min=1)
        pooled = mean if self.pooling == 'mean' else torch.cat([mean, (x + (present - 1) * 1e4).amax(1)], -1)
        return self.head(self.dropout(pooled)), mean


MODULES = {
    'query': 'attention.self.query',
    'key': 'attention.self.key',
    'value': 'attention.self.value',
    'output': 'attention.output.dense',
    'attention_norm': 'attention.output.LayerNorm',
    'up': 'intermediate.dense',
    'down': 'output.dense',
    'output_norm': 'output.LayerNorm',
}


def load_base(model, path):
    """Copies the base weights. The vector of token type 0 is the same for every token, so it is added to the positions."""
    packed = np.load(path)

    def tensor(name):
        if name in packed.files:
            return torch.tensor(packed[name])
        return torch.tensor(packed[f'{name}|int8'].astype(np.float32) * packed[f'{name}|scale'])

    state = model.state_dict()
    state['words.weight'] = tensor('embeddings.word_embeddings.weight')
    state['positions.weight'] = (
        tensor('embeddings.position_embeddings.weight') + tensor('embeddings.token_type_embeddings.weight')[0]
    )
    for part in ('weight', 'bias'):
        state[f'norm.{part}'] = tensor(f'embeddings.LayerNorm.{part}')
        for number in range(LAYERS):
            for ours, theirs in MODULES.items():
                state[f'layers.{number}.{ours}.{part}'] = tensor(f'encoder.layer.{number}.{theirs}.{part}')
    model.load_state_dict(state)
    return model


def padded(texts):
    """Token ids of several texts as one batch, each between [CLS] and [SEP]."""
    length = max(map(len, texts)) + 2
    length += -length % 8
    ids = np.zeros((len(texts), length), np.int64)
    mask = np.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, : len(text) + 2] = [CLS, *text, SEP]
        mask[row, : len(text) + 2] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)


@torch.no_grad()
def logits_of(model, texts, batch=512, tokens=254, stride=192):
    """Logits of texts of any length: windows of 256 tokens, combined as the gateway combines them. Also the mean vectors."""
    model.eval()
    windows, owners = [], []
    for number, text in enumerate(texts):
        for window in windows_of(text, tokens, stride):
            windows.append(window)
            owners.append(number)
    logits = np.zeros((len(windows), len(LABELS)), np.float32)
    means = np.zeros((len(windows), WIDTH), np.float16)
    order = np.argsort([len(window) for window in windows], kind='stable')
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        ids, mask = padded([windows[number] for number in chosen])
        with torch.autocast('cuda', torch.bfloat16):
            scores, vectors = model(ids.cuda(), mask.cuda())
        logits[chosen], means[chosen] = scores.float().cpu().numpy(), vectors.float().cpu().numpy()
    return np.stack([combined(rows) for rows in grouped(logits, owners, len(texts))]), means


def windows_of(text, tokens, stride):
    if len(text) <= tokens:
        return [text]
    return [text[at : at + tokens] for at in range(0, len(text) - tokens, stride)] + [text[-tokens:]]


def grouped(rows, owners, count):
    starts = np.searchsorted(owners, np.arange(count + 1))
    return [rows[starts[number] : starts[number + 1]] for number in range(count)]


def combined(windows):
    highest = windows.max(0)
    return highest + np.log(np.exp(windows - highest).mean(0)).clip(-1)
