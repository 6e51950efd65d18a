#!/usr/bin/env python3
"""Records what PyTorch computes of a DALL-E, for test_dalle_parity.cpp.

As make_coder_reference.py: our initial state, then what torch makes of it: losses of captions and of codes, scores, every
gradient, and ten clipped AdamW steps. The network below is all of it, after DALLE-pytorch's branch "weight-sharing", and
opens what is exported.

Usage: make_dalle_reference.py [--to folder]      (writes reference_dalle.safetensors)
"""
import math

import numpy as np
import safetensors.torch
import torch
from torch.nn import functional as F

from make_reference import Rng, arguments_of, mix64, record, state_file, ten_steps

TEXT, TEXT_VOCABULARY, GRID, CODES, BLOCKS, LAYERS, HEADS, WIDTH = 6, 20, 4, 11, 2, 7, 2, 32
PLACES, VOCABULARY, HEAD = GRID * GRID, TEXT_VOCABULARY + CODES, WIDTH // HEADS
ROWS, FIRST = TEXT + PLACES, TEXT + 1  # rows that go in, and which of them is the first code
BATCH, STEPS, CLIP, SEED = 3, 10, 0.5, 7


def tensors():
    c = WIDTH
    made = [("text_image_table.weight", [VOCABULARY, c]), ("text_image_table.bias", [VOCABULARY]),
            ("norm.weight", [c]), ("norm.bias", [c])]
    for i in range(BLOCKS + 1):
        made += [(f"shared.{i}.attention.qkv.weight", [3 * c, c]), (f"shared.{i}.attention.out.weight", [c, c]),
                 (f"shared.{i}.attention.out.bias", [c]), (f"shared.{i}.feed.up.weight", [8 * c, c]),
                 (f"shared.{i}.feed.up.bias", [8 * c]), (f"shared.{i}.feed.down.weight", [c, 4 * c]),
                 (f"shared.{i}.feed.down.bias", [c])]
    for i in range(LAYERS):
        for part in ("attention", "feed"):
            made += [(f"layers.{i}.{part}.norm.weight", [c]), (f"layers.{i}.{part}.norm.bias", [c]),
                     (f"layers.{i}.{part}.scale", [c])]
    return made


def visible(kind):
    """Which rows (keys, second) a row (query, first) sees."""
    seen = torch.zeros(ROWS, ROWS, dtype=torch.bool)
    for q in range(ROWS):
        for k in range(q + 1):
            if k < FIRST:
                seen[q, k] = True
                continue
            (y, x), (v, u) = divmod(q - FIRST, GRID), divmod(k - FIRST, GRID)
            seen[q, k] = {"row": y == v, "column": x == u, "near": abs(y - v) < 3 and abs(x - u) < 3}[kind]
    return seen


def turns():
    """Angles of each row's pairs, as rotary-embedding-torch makes them of "lang" and "pixel" frequencies."""
    third = HEAD // 3
    language = 10000.0 ** (-torch.arange(0, third, 2)[:third // 2].double() / third)
    pixel = torch.linspace(1.0, 5.0, third // 2, dtype=torch.float64) * math.pi
    axis = torch.linspace(-1, 1, GRID, dtype=torch.float64)
    angles = []
    for row in range(ROWS):
        position, y, x = row, -10.0, -10.0
        if row >= FIRST:
            position, (i, j) = 8192, divmod(row - FIRST, GRID)
            y, x = axis[i], axis[j]
        angles.append(torch.cat([position * language, y * pixel, x * pixel]))
    return torch.stack(angles).repeat_interleave(2, 1)


def rotated(t, angles):
    """(B, H, rows, HEAD): the first entries in neighbouring pairs, the rest as they are."""
    count = angles.shape[1]
    front, back = t[..., :count], t[..., count:]
    pairs = front.reshape(*front.shape[:-1], count // 2, 2)
    crossed = torch.stack([-pairs[..., 1], pairs[..., 0]], -1).reshape(front.shape)
    return torch.cat([front * angles.cos().float() + crossed * angles.sin().float(), back], -1)


def shifted(x):
    text, codes = x[:, :FIRST], x[:, FIRST:]
    half = WIDTH // 2
    text = torch.cat([F.pad(text[..., :half], (0, 0, 1, -1)), text[..., half:]], -1)
    whole = F.pad(codes, (0, 0, 0, PLACES - codes.shape[1])).view(-1, GRID, GRID, WIDTH)
    above, left, *rest = whole.chunk(4, -1)
    above, left = F.pad(above, (0, 0, 0, 0, 1, -1)), F.pad(left, (0, 0, 1, -1))
    whole = torch.cat([above, left, *rest], -1).reshape(-1, PLACES, WIDTH)
    return torch.cat([text, whole[:, :codes.shape[1]]], 1)


class Dalle:
    def __init__(self, weights):
        self.weights, self.angles = weights, turns()
        self.hidden = {kind: ~visible(kind) for kind in ("row", "column", "near")}

    def normed(self, name, x):
        return F.layer_norm(x, (WIDTH,), self.weights[name + ".weight"], self.weights[name + ".bias"], 1e-5)

    def attention(self, x, block, kind):
        q, k, v = (F.linear(x, self.weights[block + ".attention.qkv.weight"])
                   .view(x.shape[0], ROWS, 3, HEADS, HEAD).permute(2, 0, 3, 1, 4))
        q, k, v = (rotated(t, self.angles) for t in (q, k, v))
        dots = (q * HEAD ** -0.5) @ k.transpose(-1, -2)
        seen = dots.masked_fill(self.hidden[kind], -math.inf).softmax(-1) @ v
        return F.linear(seen.transpose(1, 2).reshape(x.shape), self.weights[block + ".attention.out.weight"],
                        self.weights[block + ".attention.out.bias"])

    def feed(self, x, block):
        u, g = F.linear(x, self.weights[block + ".feed.up.weight"], self.weights[block + ".feed.up.bias"]).chunk(2, -1)
        return F.linear(u * F.gelu(g), self.weights[block + ".feed.down.weight"], self.weights[block + ".feed.down.bias"])

    def scores(self, ids):
        table, bias = self.weights["text_image_table.weight"], self.weights["text_image_table.bias"]
        one = two = table[ids]
        for i in range(LAYERS):
            last = i == LAYERS - 1
            block = f"shared.{BLOCKS if last else i % BLOCKS}"
            kind = "near" if last else ("row", "column", "row", "row")[i % 4]
            own = f"layers.{i}."
            one = one + self.weights[own + "attention.scale"] * self.attention(
                shifted(self.normed(own + "attention.norm", two)), block, kind)
            two = two + self.weights[own + "feed.scale"] * self.feed(shifted(self.normed(own + "feed.norm", one)), block)
        logits = F.linear(self.normed("norm", (one + two) / 2), table, bias)
        places, tokens = torch.arange(ROWS)[:, None], torch.arange(VOCABULARY)[None]
        other = (places < TEXT) != (tokens < TEXT_VOCABULARY)
        return logits.masked_fill(other, -torch.finfo(torch.float32).max)


def initial_values():
    pieces, reads = [], 0
    for index, (name, shape) in enumerate(tensors(), 1):
        count, rng = math.prod(shape), Rng(mix64(SEED) ^ mix64(index))
        if name.endswith("scale"):
            pieces.append(np.full(count, 0.1, np.float32))
        elif "norm" in name:
            pieces.append(np.full(count, 1 if name.endswith("weight") else 0, np.float32))
        else:
            reads = shape[-1] if len(shape) == 2 else reads
            bound = 1 / math.sqrt(reads)
            pieces.append(np.array([bound * (2 * rng.unit() - 1) for _ in range(count)], np.float32))
    return np.concatenate(pieces)


def make_records():
    """Captions of drawn lengths; codes that follow from the caption and the place."""
    rng, records = Rng(11), []
    for _ in range(STEPS * BATCH):
        words = [2 + rng.next() % (TEXT_VOCABULARY - 2) for _ in range(1 + rng.next() % TEXT)]
        codes = [(words[0] * y + words[-1] * x + rng.next() % 3) % CODES for y in range(GRID) for x in range(GRID)]
        records.append([0] + words + [1] * (TEXT - len(words)) + [TEXT_VOCABULARY + code for code in codes])
    return records


def main(folder):
    initial = state_file(tensors(), initial_values())
    weights = {name: tensor.requires_grad_() for name, tensor in safetensors.torch.load(initial).items()}
    parameters = [weights[name] for name, _ in tensors()]
    decayed = [name.endswith("scale") or len(shape) == 2 for name, shape in tensors()]
    dalle, records = Dalle(weights), make_records()

    def begin(step):
        batch = torch.tensor(records[step * BATCH:(step + 1) * BATCH])
        logits, wanted = dalle.scores(batch[:, :-1]), batch[:, 1:]
        each = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none").view(BATCH, ROWS)
        text, codes = each[:, :TEXT].mean(), each[:, TEXT:].mean()
        loss = (text + 7 * codes) / 8
        return loss, {
            "figures": torch.tensor([loss.item(), text.item(), codes.item()], dtype=torch.float64),
            "text_scores": logits[0, TEXT - 1, :TEXT_VOCABULARY].detach().clone(),
            "code_scores": logits[0, FIRST + 5, TEXT_VOCABULARY:].detach().clone()}

    out, _ = ten_steps(parameters, decayed, CLIP, begin)
    out["records"] = torch.tensor(records, dtype=torch.int32)
    record("dalle", folder, out, initial)


if __name__ == "__main__":
    main(arguments_of(__doc__).parse_args().to)
