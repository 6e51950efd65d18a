#!/usr/bin/env python3
"""Records what PyTorch computes of a picture coder, for test_coder_parity.cpp.

As make_albert_reference.py: our initial state, then what torch.nn.functional makes of it: losses, the picture after coding,
codes, every gradient, and ten clipped AdamW steps. The network below is all of it, and opens what is exported.

Usage: make_coder_reference.py [--to folder]      (writes reference_coder.safetensors)
"""
import math

import numpy as np
import safetensors.torch
import torch
from torch.nn import functional as F

from make_reference import Rng, arguments_of, is_matrix, mix64, record, state_file, ten_steps

SIDE, HALVINGS, BLOCKS, WIDTH, LEVELS, GROUPS = 16, 2, 1, 16, (8, 5, 5), 8
BATCH, STEPS, CLIP, SEED = 3, 10, 0.05, 7


def tensors():
    c, d = WIDTH, len(LEVELS)

    def convolution(name, into, out, size):
        return [(name + ".weight", [out, into, size, size]), (name + ".bias", [out])]

    def norm(name):
        return [(name + ".weight", [c]), (name + ".bias", [c])]

    def blocks(prefix):
        made = []
        for j in range(BLOCKS):
            block = f"{prefix}block.{j}."
            made += norm(block + "norm1") + convolution(block + "conv1", c, c, 3)
            made += norm(block + "norm2") + convolution(block + "conv2", c, c, 3)
        return made

    made = convolution("encoder.in", 3, c, 3)
    for i in range(HALVINGS):
        made += blocks(f"encoder.level.{i}.") + convolution(f"encoder.level.{i}.down", c, c, 4)
    made += blocks("encoder.middle.") + norm("encoder.norm") + convolution("encoder.code", c, d, 1)
    made += convolution("decoder.in", d, c, 1) + blocks("decoder.middle.")
    for i in range(HALVINGS):
        made += convolution(f"decoder.level.{i}.up", c, c, 3) + blocks(f"decoder.level.{i}.")
    return made + norm("decoder.norm") + convolution("decoder.out", c, 3, 3)


class Coder:
    """Weights by name; pictures are (B, 3, S, S) of values from 0 to 1."""

    def __init__(self, weights):
        self.weights = weights

    def convolved(self, name, x, stride=1, padding=1):
        return F.conv2d(x, self.weights[name + ".weight"], self.weights[name + ".bias"], stride, padding)

    def normed(self, name, x):
        return F.silu(F.group_norm(x, GROUPS, self.weights[name + ".weight"], self.weights[name + ".bias"], 1e-5))

    def blocks(self, prefix, x):
        for j in range(BLOCKS):
            block = f"{prefix}block.{j}."
            inner = self.convolved(block + "conv1", self.normed(block + "norm1", x))
            x = x + self.convolved(block + "conv2", self.normed(block + "norm2", inner))
        return x

    def numbers(self, pictures):
        """Finite scalar quantisation as in its paper's appendix (Mentzer et al. 2023)."""
        x = self.convolved("encoder.in", 2 * pictures - 1)
        for i in range(HALVINGS):
            x = self.convolved(f"encoder.level.{i}.down", self.blocks(f"encoder.level.{i}.", x), 2)
        x = self.normed("encoder.norm", self.blocks("encoder.middle.", x))
        z = self.convolved("encoder.code", x, 1, 0)
        levels = torch.tensor(LEVELS, dtype=torch.float32).view(-1, 1, 1)
        half = (levels - 1) * (1 + 1e-3) / 2
        offset = torch.where(levels % 2 == 0, 0.5, 0.0)
        bounded = torch.tanh(z + torch.atanh(offset / half)) * half - offset
        self.near_tie = (bounded - bounded.floor() - 0.5).abs().min().item()
        return bounded + (bounded.round() - bounded).detach()

    def drawn(self, numbers):
        reach = torch.tensor([level // 2 for level in LEVELS], dtype=torch.float32).view(-1, 1, 1)
        x = self.blocks("decoder.middle.", self.convolved("decoder.in", numbers / reach, 1, 0))
        for i in range(HALVINGS):
            x = F.interpolate(x, scale_factor=2, mode="nearest")
            x = self.blocks(f"decoder.level.{i}.", self.convolved(f"decoder.level.{i}.up", x))
        return 0.5 * self.convolved("decoder.out", self.normed("decoder.norm", x)) + 0.5


def codes_of(numbers):
    index, step = 0, 1
    for d, level in enumerate(LEVELS):
        index, step = index + (numbers[:, d].round().long() + level // 2) * step, step * level
    return index


def losses(drawn, pictures):
    apart = pictures - drawn
    steps = torch.cat([apart.diff(dim=2).flatten(1), apart.diff(dim=3).flatten(1)], 1)
    return apart.abs().mean((1, 2, 3)) + 0.5 * apart.square().mean((1, 2, 3)) + 0.25 * steps.abs().mean(1)


def initial_values():
    pieces = []
    for index, (name, shape) in enumerate(tensors(), 1):
        count, rng = math.prod(shape), Rng(mix64(SEED) ^ mix64(index))
        if len(shape) == 1:
            pieces.append(np.full(count, 1 if "norm" in name and name.endswith("weight") else 0, np.float32))
        else:
            deviation = 1 / math.sqrt(math.prod(shape[1:]))
            pieces.append(np.array([deviation * sum((rng.unit() for _ in range(12)), -6.0) for _ in range(count)],
                                   np.float32))
    return np.concatenate(pieces)


def make_records():
    """Discs and bars of drawn colours."""
    rng, records = Rng(11), []
    for _ in range(STEPS * BATCH):
        ground, front = ([rng.next() % 256 for _ in range(3)] for _ in range(2))
        x0, y0, size, disc = rng.next() % SIDE, rng.next() % SIDE, 2 + rng.next() % 7, rng.next() % 2
        record = []
        for y in range(SIDE):
            for x in range(SIDE):
                inside = (x - x0) ** 2 + (y - y0) ** 2 < size * size if disc else abs(x - x0) < size // 2
                record += front if inside else ground
        records.append(record + [0])
    return records


def main(folder):
    initial = state_file(tensors(), initial_values())
    weights = {name: tensor.requires_grad_() for name, tensor in safetensors.torch.load(initial).items()}
    parameters = [weights[name] for name, _ in tensors()]
    coder, records = Coder(weights), make_records()
    ties = []

    def begin(step):
        batch = torch.tensor(records[step * BATCH:(step + 1) * BATCH], dtype=torch.float32)[:, :-1]
        pictures = (batch / 255).view(BATCH, SIDE, SIDE, 3).permute(0, 3, 1, 2).contiguous()
        numbers = coder.numbers(pictures)
        drawn = coder.drawn(numbers)
        loss = losses(drawn, pictures).mean()
        ties.append(coder.near_tie)
        error = (drawn.detach().clamp(0, 1) - pictures).square().mean((1, 2, 3)).sum()
        return loss, {
            "codes": codes_of(numbers).reshape(-1).to(torch.int32),
            "drawn": (drawn[0].detach().clamp(0, 1) * 255).permute(1, 2, 0).reshape(-1).contiguous(),
            "figures": torch.tensor([loss.item(), error.item()], dtype=torch.float64)}

    out, _ = ten_steps(parameters, is_matrix(parameters), CLIP, begin)
    assert ties[0] > 1e-5, ties  # else rounding could fall to the other side elsewhere
    out["records"] = torch.tensor(records, dtype=torch.int32)
    record("coder", folder, out, initial)


if __name__ == "__main__":
    main(arguments_of(__doc__).parse_args().to)
