#!/usr/bin/env python3
"""Records what PyTorch and transformers compute of an ALBERT, for test_albert_parity.cpp.

As make_reference.py, which it imports: writes our initial state and config.json, opens them with from_pretrained, draws gaps
and orders as core/training/encoder/masking.h does, and records losses, scores, every gradient, and ten clipped AdamW steps.

Usage: make_albert_reference.py [--to folder]      (writes reference_albert.safetensors)
"""
import math
import pathlib
import tempfile

import numpy as np
import torch
import transformers

from make_reference import MASK, Rng, adamw, arguments_of, is_matrix, mix64, record, state_file, ten_steps

HERE = pathlib.Path(__file__).parent
VOCABULARY, CONTEXT, LAYERS, HEADS, WIDTH, EMBEDDING, INNER = 97, 24, 3, 4, 32, 16, 64
PAD, CLS, SEP, GAP, SHARE = 0, 2, 3, 4, 0.15
BATCH, STEPS, CLIP, LARGER, SEED = 3, 10, 0.5, 4, 7
RUN_SEED, ROUND = 5, 2
LAMB_BETAS = 0.9, 0.999
SPECIALS = (PAD, CLS, SEP, GAP)


def tensors():
    v, t, e, c, f = VOCABULARY, CONTEXT, EMBEDDING, WIDTH, INNER
    embeddings, layer = "albert.embeddings.", "albert.encoder.albert_layer_groups.0.albert_layers.0."

    def affine(name, out, into):
        return [(name + ".weight", [out, into]), (name + ".bias", [out])]

    def norm(name, width):
        return [(name + ".weight", [width]), (name + ".bias", [width])]

    return [(embeddings + "word_embeddings.weight", [v, e]), (embeddings + "position_embeddings.weight", [t, e]),
            (embeddings + "token_type_embeddings.weight", [2, e]), *norm(embeddings + "LayerNorm", e),
            *affine("albert.encoder.embedding_hidden_mapping_in", c, e),
            *[(f"{layer}attention.{part}.weight", [c, c]) for part in ("query", "key", "value")],
            *[(f"{layer}attention.{part}.bias", [c]) for part in ("query", "key", "value")],
            *affine(layer + "attention.dense", c, c), *norm(layer + "attention.LayerNorm", c),
            *affine(layer + "ffn", f, c), *affine(layer + "ffn_output", c, f), *norm(layer + "full_layer_layer_norm", c),
            *affine("albert.pooler", c, c), *affine("sop_classifier.classifier", 2, c),
            *affine("predictions.dense", e, c), *norm("predictions.LayerNorm", e), ("predictions.bias", [v])]


def initial_values():
    pieces = []
    for index, (name, shape) in enumerate(tensors(), 1):
        count, rng = math.prod(shape), Rng(mix64(SEED) ^ mix64(index))
        if "orm" in name and name.endswith(".weight"):
            pieces.append(np.ones(count, np.float32))
        elif name.endswith("bias"):
            pieces.append(np.zeros(count, np.float32))
        else:
            values = np.array([0.02 * (sum((rng.unit() for _ in range(12)), -6.0)) for _ in range(count)], np.float32)
            if index == 1:
                values[PAD * EMBEDDING:(PAD + 1) * EMBEDDING] = 0
            pieces.append(values * np.float32(LARGER))
    return np.concatenate(pieces)


def open_in_transformers(file):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "model.safetensors").write_bytes(file)
        pathlib.Path(folder, "config.json").write_bytes((HERE / "config_albert.json").read_bytes())
        opened = transformers.AlbertForPreTraining.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    return opened.eval()  # the order's head would drop out in training


def make_records():
    """Two texts of differing lengths, in which a token mostly follows from the one before."""
    rng, records = Rng(11), []
    for _ in range(STEPS * BATCH):
        lengths = 4 + rng.next() % 7, 3 + rng.next() % 8
        text = [5 + rng.next() % (VOCABULARY - 5)]
        while len(text) < sum(lengths):
            text.append(5 + ((text[-1] * 5 + 3) % (VOCABULARY - 5) if rng.next() % 10 < 7 else rng.next() % (VOCABULARY - 5)))
        record = [CLS, *text[:lengths[0]], SEP, *text[lengths[0]:], SEP]
        records.append(record + [PAD] * (CONTEXT + 1 - len(record)))
    return records


def example_of(record, number, seed):
    """As Masker in masking.cpp."""
    rng = Rng(mix64(seed ^ mix64(number)))
    middle = record.index(SEP)
    end = record.index(SEP, middle + 1)
    texts = [record[1:middle], record[middle + 1:end]]
    swapped = rng.next() % 2 == 1
    if swapped:
        texts.reverse()
    ids = [CLS, *texts[0], SEP, *texts[1], SEP]
    segments = [0] * (len(texts[0]) + 2) + [1] * (len(texts[1]) + 1)
    candidates = [at for at, token in enumerate(ids) if token not in SPECIALS]
    count = min(max(1, math.floor(SHARE * len(ids) + 0.5)), len(candidates))
    gaps = []
    for i in range(count):
        j = i + rng.next() % (len(candidates) - i)
        candidates[i], candidates[j] = candidates[j], candidates[i]
        at = candidates[i]
        gaps.append((at, ids[at]))
        fate = rng.next() % 10
        if fate < 8:
            ids[at] = GAP
        elif fate == 8:
            ids[at] = GAP
            while ids[at] in SPECIALS:
                ids[at] = rng.next() % VOCABULARY
    length = len(ids)
    return (ids + [PAD] * (CONTEXT - length), segments + [0] * (CONTEXT - length),
            [1] * length + [0] * (CONTEXT - length), gaps, int(swapped))


def losses_of(opened, examples):
    ids, segments, seen = (torch.tensor([example[i] for example in examples]) for i in range(3))
    out = opened(input_ids=ids, token_type_ids=segments, attention_mask=seen)
    masked = order = 0.0
    for row, example in enumerate(examples):
        places = torch.tensor([at for at, _ in example[3]])
        wanted = torch.tensor([token for _, token in example[3]])
        masked = masked + torch.nn.functional.cross_entropy(out.prediction_logits[row, places], wanted)
        order = order + torch.nn.functional.cross_entropy(out.sop_logits[row:row + 1], torch.tensor([example[4]]))
    return out, masked / len(examples), order / len(examples)


class Lamb(torch.optim.Optimizer):
    """LAMB as DeDLOC trained ALBERT: what makes up for moments that begin at zero is in the rate, outside the ratio."""

    def __init__(self, groups):
        super().__init__(groups, {"lr": 0.0, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                mean, variance = (state.setdefault(key, torch.zeros_like(p)) for key in ("mean", "variance"))
                t = state["t"] = state.get("t", 0) + 1
                mean.lerp_(p.grad, 1 - LAMB_BETAS[0])
                variance.lerp_(p.grad.square(), 1 - LAMB_BETAS[1])
                update = mean / (variance.sqrt() + 1e-6) + group["weight_decay"] * p
                length, size = p.norm().clamp(max=1e4), update.norm()
                ratio = length / size if length > 0 and size > 0 else 1.0
                rate = group["lr"] * math.sqrt(1 - LAMB_BETAS[1] ** t) / (1 - LAMB_BETAS[0] ** t)
                p.sub_(rate * ratio * update)


def main(folder):
    make("albert", folder, adamw, 0.1)
    make("albert_lamb", folder, Lamb, 0.01)


def make(name, folder, optimizer_of, decay):
    initial = state_file(tensors(), initial_values())
    opened = open_in_transformers(initial)
    named = dict(opened.named_parameters())
    assert set(named) == {name for name, _ in tensors()}, set(named) ^ {name for name, _ in tensors()}
    parameters = [named[name] for name, _ in tensors()]
    assert all(list(p.shape) == shape for p, (_, shape) in zip(parameters, tensors()))
    records = make_records()
    seed = mix64(RUN_SEED ^ mix64(~ROUND & MASK))

    def begin(step):
        examples = [example_of(records[step * BATCH + i], step * BATCH + i, seed) for i in range(BATCH)]
        found, masked, order = losses_of(opened, examples)
        if step > 0:
            return masked + order, {}  # its first record may have no gap
        place = examples[0][0].index(GAP)
        return masked + order, {
            "ids": torch.tensor([example[0] for example in examples], dtype=torch.int32),
            "parts": torch.tensor([masked.item(), order.item()], dtype=torch.float64),
            "gap_scores": found.prediction_logits[0, place].detach().clone()}

    out, _ = ten_steps(parameters, is_matrix(parameters), CLIP, begin, optimizer_of, decay)
    out["records"] = torch.tensor(records, dtype=torch.int32)
    record(name, folder, out, initial, transformers)


if __name__ == "__main__":
    main(arguments_of(__doc__).parse_args().to)
