#!/usr/bin/env python3
"""Records what PyTorch and transformers compute, for test_training_parity.cpp.

Needs torch, transformers, numpy and safetensors (versions are written into the files). For each activation it
  1. writes our initial state (core/run/initial_state.h) as a state file (core/run/state_layout.h) beside a config.json,
  2. opens that folder with GPT2LMHeadModel.from_pretrained, unchanged: a checkpoint of ours opens in Python as it is,
  3. records logits, loss, every gradient, and ten clipped AdamW steps,
  4. exports the result as a state file again, opens it again, and checks that the loss is the same.

Usage: make_reference.py [folder]      (writes reference_gelu.safetensors and reference_relu.safetensors)
"""
import hashlib
import json
import math
import pathlib
import struct
import sys
import tempfile

import numpy as np
import safetensors.torch
import torch
import transformers

MASK = (1 << 64) - 1
VOCABULARY, CONTEXT, LAYERS, HEADS, WIDTH = 48, 24, 2, 2, 32
BATCH, STEPS, PEAK_RATE, CLIP = 3, 10, 3e-3, 0.5
SEED = 7


def mix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Rng:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        value = mix64(self.state)
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return value

    def unit(self):
        return (self.next() >> 11) * 2.0**-53


def tensors():
    c = WIDTH
    out = [("wte.weight", [VOCABULARY, c]), ("wpe.weight", [CONTEXT, c])]
    for i in range(LAYERS):
        for name, shape in [("ln_1", [c]), ("attn.c_attn", [c, 3 * c]), ("attn.c_proj", [c, c]), ("ln_2", [c]),
                            ("mlp.c_fc", [c, 4 * c]), ("mlp.c_proj", [4 * c, c])]:
            out += [(f"h.{i}.{name}.weight", shape), (f"h.{i}.{name}.bias", shape[-1:])]
    return out + [("ln_f.weight", [c]), ("ln_f.bias", [c])]


def initial_values():
    pieces = []
    for index, (name, shape) in enumerate(tensors(), start=1):
        count = math.prod(shape)
        if name.endswith(".bias"):
            pieces.append(np.zeros(count, np.float32))
            continue
        if len(shape) == 1:
            pieces.append(np.ones(count, np.float32))
            continue
        deviation = 0.02 / math.sqrt(2.0 * LAYERS) if name.endswith("c_proj.weight") else 0.02
        rng = Rng(mix64(SEED) ^ mix64(index))
        values = []
        for _ in range(count):
            total = -6.0
            for _ in range(12):
                total += rng.unit()
            values.append(deviation * total)
        pieces.append(np.array(values, np.float32))
    return np.concatenate(pieces)


def state_file(values):
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in tensors():
        end = offset + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 16384)
    return struct.pack("<Q", len(text)) + text + values.astype("<f4").tobytes()


def open_in_transformers(file, activation):
    """Any state file of ours with the config of its model spec, through the library's ordinary door."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "model.safetensors").write_bytes(file)
        config = transformers.GPT2Config(
            vocab_size=VOCABULARY, n_positions=CONTEXT, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS,
            activation_function="gelu_new" if activation == "gelu" else "relu",
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, architectures=["GPT2LMHeadModel"],
            bos_token_id=0, eos_token_id=0)
        config.save_pretrained(folder)
        model = transformers.GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager",
                                                             dtype=torch.float32)
    return model.train()


def parameters_in_order(model):
    named = dict(model.transformer.named_parameters())
    assert set(named) == {name for name, _ in tensors()}, "an unknown or a missing tensor"
    return [named[name] for name, _ in tensors()]


def flat(list_of_tensors):
    return torch.cat([t.detach().reshape(-1) for t in list_of_tensors])


def mean_loss(model, records):
    logits = model(input_ids=records[:, :-1]).logits
    targets = records[:, 1:].reshape(-1)
    return logits, torch.nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), targets)


def make(activation, folder):
    torch.manual_seed(1)
    # Markov-like text, so that ten steps have something to learn.
    records = torch.randint(0, VOCABULARY, (STEPS, BATCH, CONTEXT + 1))
    for t in range(1, CONTEXT + 1):
        follow = torch.rand(STEPS, BATCH) < 0.7
        records[:, :, t] = torch.where(follow, (records[:, :, t - 1] * 5 + 3) % VOCABULARY, records[:, :, t])

    initial = state_file(initial_values())
    model = open_in_transformers(initial, activation)
    parameters = parameters_in_order(model)
    optimizer = torch.optim.AdamW(
        [{"params": [p for p in parameters if p.dim() >= 2], "weight_decay": 0.1},
         {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}],
        lr=PEAK_RATE, betas=(0.9, 0.95), eps=1e-8)
    out, losses, norms = {}, [], []
    for step in range(STEPS):
        logits, loss = mean_loss(model, records[step])
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            out["logits"] = logits.detach().clone()
            out["gradient"] = flat([p.grad for p in parameters])
        norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, CLIP)))
        for group in optimizer.param_groups:
            group["lr"] = PEAK_RATE * min(1.0, (step + 1) / 10)  # warm-up on fresh moments, core/training/trainer.h
        optimizer.step()
        losses.append(loss.item())
    out["after"] = flat(parameters)
    assert min(norms) < CLIP < max(norms) or min(norms) > CLIP, "the clip has to act"

    _, last = mean_loss(model, records[0])
    _, reopened = mean_loss(open_in_transformers(state_file(out["after"].numpy()), activation), records[0])
    assert last.item() == reopened.item(), "an exported state gives another loss in transformers"
    out["losses"] = torch.tensor(losses + [last.item()], dtype=torch.float64)
    out["norms"] = torch.tensor(norms, dtype=torch.float64)
    out["records"] = records.to(torch.int32)
    metadata = {"torch": torch.__version__, "transformers": transformers.__version__,
                "initial_state_sha256": hashlib.sha256(initial).hexdigest()}
    safetensors.torch.save_file(out, pathlib.Path(folder, f"reference_{activation}.safetensors"), metadata)
    print(activation, metadata, "losses", losses[0], "...", losses[-1], "reopened", reopened.item(), "norms", norms)


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    for name in ("gelu", "relu"):
        make(name, target)
