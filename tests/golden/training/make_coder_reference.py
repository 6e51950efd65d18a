#!/usr/bin/env python3
"""Records what PyTorch computes of a picture coder, for test_coder_parity.cpp.

As make_albert_reference.py: our initial state, then what torch.nn.functional makes of it: losses, the picture after coding,
codes, every gradient, and ten clipped AdamW steps. The network below is all of it, and opens what is exported.

Usage: make_coder_reference.py [--to folder]      (writes reference_coder.safetensors)
"""
import argparse
import hashlib
import math
import pathlib

import numpy as np
import safetensors.torch
import torch
from torch.nn import functional as F

from make_reference import Rng, mix64, state_file

HERE = pathlib.Path(__file__).parent
SIDE, HALVINGS, BLOCKS, WIDTH, LEVELS, GROUPS = 16, 2, 1, 16, (8, 5, 5), 8
BATCH, STEPS, PEAK_RATE, CLIP, SEED = 3, 10, 3e-3, 0.05, 7


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


def flat(list_of_tensors):
    return torch.cat([t.detach().reshape(-1) for t in list_of_tensors])


def main(folder):
    initial = state_file(tensors(), initial_values())
    weights = {name: tensor.requires_grad_() for name, tensor in safetensors.torch.load(initial).items()}
    parameters = [weights[name] for name, _ in tensors()]
    optimizer = torch.optim.AdamW(
        [{"params": [p for p in parameters if p.dim() >= 2], "weight_decay": 0.1},
         {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}],
        lr=PEAK_RATE, betas=(0.9, 0.95), eps=1e-8)
    coder, records = Coder(weights), make_records()
    out, found, norms, ties = {}, [], [], []
    for step in range(STEPS):
        batch = torch.tensor(records[step * BATCH:(step + 1) * BATCH], dtype=torch.float32)[:, :-1]
        pictures = (batch / 255).view(BATCH, SIDE, SIDE, 3).permute(0, 3, 1, 2).contiguous()
        numbers = coder.numbers(pictures)
        drawn = coder.drawn(numbers)
        loss = losses(drawn, pictures).mean()
        optimizer.zero_grad()
        loss.backward()
        ties.append(coder.near_tie)
        if step == 0:
            out["gradient"] = flat([p.grad for p in parameters])
            out["codes"] = codes_of(numbers).reshape(-1).to(torch.int32)
            out["drawn"] = (drawn[0].detach().clamp(0, 1) * 255).permute(1, 2, 0).reshape(-1).contiguous()
            error = (drawn.detach().clamp(0, 1) - pictures).square().mean((1, 2, 3)).sum()
            out["figures"] = torch.tensor([loss.item(), error.item()], dtype=torch.float64)
        norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, CLIP)))
        for group in optimizer.param_groups:
            group["lr"] = PEAK_RATE * min(1.0, (step + 1) / 10)
        optimizer.step()
        found.append(loss.item())
    assert max(norms) > CLIP, norms
    assert ties[0] > 1e-5, ties  # else rounding could fall to the other side elsewhere
    out["after"] = flat(parameters)
    out["losses"] = torch.tensor(found, dtype=torch.float64)
    out["records"] = torch.tensor(records, dtype=torch.int32)
    metadata = {"torch": torch.__version__, "initial_state_sha256": hashlib.sha256(initial).hexdigest()}
    safetensors.torch.save_file(out, pathlib.Path(folder, "reference_coder.safetensors"), metadata)
    print(metadata, "losses", found, "norms", norms, "nearest tie", ties)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--to", default=HERE)
    main(arguments.parse_args().to)
