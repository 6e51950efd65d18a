#!/usr/bin/env python3
"""Records what PyTorch and transformers compute of an ALBERT, for test_albert_parity.cpp.

As make_reference.py, which it imports: writes our initial state and config.json, opens them with from_pretrained, draws gaps
and orders as core/training/encoder/masking.h does, and records losses, scores, every gradient, and ten clipped AdamW steps.

Usage: make_albert_reference.py [--to folder]      (writes reference_albert.safetensors)
"""
import argparse
import hashlib
import math
import pathlib
import tempfile

import numpy as np
import safetensors.torch
import torch
import transformers

from make_reference import MASK, Rng, mix64, state_file

HERE = pathlib.Path(__file__).parent
VOCABULARY, CONTEXT, LAYERS, HEADS, WIDTH, EMBEDDING, INNER = 97, 24, 3, 4, 32, 16, 64
PAD, CLS, SEP, GAP, SHARE = 0, 2, 3, 4, 0.15
BATCH, STEPS, PEAK_RATE, CLIP, LARGER, SEED = 3, 10, 3e-3, 0.5, 4, 7
RUN_SEED, ROUND = 5, 2
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


def flat(list_of_tensors):
    return torch.cat([t.detach().reshape(-1) for t in list_of_tensors])


def main(folder):
    initial = state_file(tensors(), initial_values())
    opened = open_in_transformers(initial)
    named = dict(opened.named_parameters())
    assert set(named) == {name for name, _ in tensors()}, set(named) ^ {name for name, _ in tensors()}
    parameters = [named[name] for name, _ in tensors()]
    assert all(list(p.shape) == shape for p, (_, shape) in zip(parameters, tensors()))
    optimizer = torch.optim.AdamW(
        [{"params": [p for p in parameters if p.dim() >= 2], "weight_decay": 0.1},
         {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}],
        lr=PEAK_RATE, betas=(0.9, 0.95), eps=1e-8)
    records = make_records()
    seed = mix64(RUN_SEED ^ mix64(~ROUND & MASK))
    out, losses, norms = {}, [], []
    for step in range(STEPS):
        examples = [example_of(records[step * BATCH + i], step * BATCH + i, seed) for i in range(BATCH)]
        found, masked, order = losses_of(opened, examples)
        optimizer.zero_grad()
        (masked + order).backward()
        if step == 0:
            out["ids"] = torch.tensor([example[0] for example in examples], dtype=torch.int32)
            out["gradient"] = flat([p.grad for p in parameters])
            out["parts"] = torch.tensor([masked.item(), order.item()], dtype=torch.float64)
            place = examples[0][0].index(GAP)
            out["gap_scores"] = found.prediction_logits[0, place].detach().clone()
        norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, CLIP)))
        for group in optimizer.param_groups:
            group["lr"] = PEAK_RATE * min(1.0, (step + 1) / 10)
        optimizer.step()
        losses.append((masked + order).item())
    assert max(norms) > CLIP, norms
    out["after"] = flat(parameters)
    out["losses"] = torch.tensor(losses, dtype=torch.float64)
    out["records"] = torch.tensor(records, dtype=torch.int32)
    metadata = {"torch": torch.__version__, "transformers": transformers.__version__,
                "initial_state_sha256": hashlib.sha256(initial).hexdigest()}
    safetensors.torch.save_file(out, pathlib.Path(folder, "reference_albert.safetensors"), metadata)
    print(metadata, "losses", losses, "norms", norms)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--to", default=HERE)
    main(arguments.parse_args().to)
