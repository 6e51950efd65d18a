#!/usr/bin/env python3
"""Records what PyTorch and transformers compute, for test_training_parity.cpp.

Needs torch, transformers, numpy and safetensors (versions are written into the files). For each model below it
  1. writes our initial state (core/model/initial_state.h) as a state file (core/model/state_layout.h) beside a config.json,
  2. opens that folder with from_pretrained, unchanged: a checkpoint of ours opens in Python as it is,
  3. records logits, loss, every gradient, and ten clipped AdamW steps,
  4. exports the result as a state file again, opens it again, and checks that the loss is the same.

Usage: make_reference.py [--to folder] [model]...      (writes reference_<model>.safetensors; all models if none is named)
"""
import argparse
import dataclasses
import hashlib
import json
import math
import pathlib
import shutil
import struct
import tempfile

import numpy as np
import safetensors.torch
import torch
import transformers

HERE = pathlib.Path(__file__).parent
MASK = (1 << 64) - 1
VOCABULARY, CONTEXT, LAYERS, HEADS, WIDTH = 48, 24, 2, 2, 32
BATCH, STEPS, PEAK_RATE = 3, 10, 3e-3
SEED = 7


@dataclasses.dataclass
class Model:
    family: str
    activation: str = "relu"
    norm_before: bool = True
    embedding: int = WIDTH
    clip: float = 0.5
    larger: int = 1     # factor on all matrices of the initial state
    own_head: bool = False


MODELS = {
    "gelu": Model("gpt2", activation="gelu_new"),
    "relu": Model("gpt2"),
    "opt": Model("opt"),  # shaped like OPT-125M
    # Shaped like OPT-350M. OPT's small initial values leave so narrow a model hardly a gradient: hence the factor.
    "opt_post": Model("opt", norm_before=False, embedding=16, clip=0.25, larger=8),
    # Shaped like Llama (with a head that is not the embedding), Qwen2 and Qwen3.
    "llama": Model("llama", larger=4, own_head=True),
    "qwen2": Model("qwen2", larger=4),
    "qwen3": Model("qwen3", larger=4),
}
# Of the last three: query heads, key heads, their width (not WIDTH / heads), inner width, theta and epsilon.
LLAMA_HEADS, KEY_HEADS, HEAD_WIDTH, INNER, THETA, EPSILON = 4, 2, 16, 40, 500.0, 1e-5


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


def gpt2_tensors():
    c = WIDTH
    out = [("wte.weight", [VOCABULARY, c]), ("wpe.weight", [CONTEXT, c])]
    for i in range(LAYERS):
        for name, shape in [("ln_1", [c]), ("attn.c_attn", [c, 3 * c]), ("attn.c_proj", [c, c]), ("ln_2", [c]),
                            ("mlp.c_fc", [c, 4 * c]), ("mlp.c_proj", [4 * c, c])]:
            out += [(f"h.{i}.{name}.weight", shape), (f"h.{i}.{name}.bias", shape[-1:])]
    return out + [("ln_f.weight", [c]), ("ln_f.bias", [c])]


def opt_tensors(model):
    c, e, top = WIDTH, model.embedding, "model.decoder."
    out = [(top + "embed_tokens.weight", [VOCABULARY, e]), (top + "embed_positions.weight", [CONTEXT + 2, c])]
    if e != c:
        out += [(top + "project_in.weight", [c, e]), (top + "project_out.weight", [e, c])]
    for i in range(LAYERS):
        layer = f"{top}layers.{i}."

        def affine(name, shape):
            return [(layer + name + ".weight", shape), (layer + name + ".bias", shape[:1])]

        out += affine("self_attn_layer_norm", [c])
        out += [(f"{layer}self_attn.{part}_proj.weight", [c, c]) for part in "qkv"]
        out += [(f"{layer}self_attn.{part}_proj.bias", [c]) for part in "qkv"]
        out += affine("self_attn.out_proj", [c, c]) + affine("final_layer_norm", [c])
        out += affine("fc1", [4 * c, c]) + affine("fc2", [c, 4 * c])
    if model.norm_before:
        out += [(top + "final_layer_norm.weight", [c]), (top + "final_layer_norm.bias", [c])]
    return out


def llama_tensors(model):
    c, queries, keys = WIDTH, LLAMA_HEADS * HEAD_WIDTH, KEY_HEADS * HEAD_WIDTH
    out = [("model.embed_tokens.weight", [VOCABULARY, c])]
    if model.own_head:
        out.append(("lm_head.weight", [VOCABULARY, c]))
    for i in range(LAYERS):
        layer, attention = f"model.layers.{i}.", f"model.layers.{i}.self_attn."
        projections = (("q", queries), ("k", keys), ("v", keys))
        out.append((layer + "input_layernorm.weight", [c]))
        out += [(f"{attention}{part}_proj.weight", [size, c]) for part, size in projections]
        if model.family == "qwen2":
            out += [(f"{attention}{part}_proj.bias", [size]) for part, size in projections]
        if model.family == "qwen3":
            out += [(f"{attention}{part}_norm.weight", [HEAD_WIDTH]) for part in "qk"]
        out += [(attention + "o_proj.weight", [c, queries]), (layer + "post_attention_layernorm.weight", [c]),
                (layer + "mlp.gate_proj.weight", [INNER, c]), (layer + "mlp.up_proj.weight", [INNER, c]),
                (layer + "mlp.down_proj.weight", [c, INNER])]
    return out + [("model.norm.weight", [c])]


def tensors(model):
    if model.family == "gpt2":
        return gpt2_tensors()
    return opt_tensors(model) if model.family == "opt" else llama_tensors(model)


def initial_values(model):
    usual, pieces = 0.006 if model.family == "opt" else 0.02, []
    for index, (name, shape) in enumerate(tensors(model), start=1):
        count = math.prod(shape)
        if name.endswith(".bias"):
            pieces.append(np.zeros(count, np.float32))
            continue
        if len(shape) == 1:
            pieces.append(np.ones(count, np.float32))
            continue
        residual = name.endswith(("c_proj.weight", "out_proj.weight", "fc2.weight", ".o_proj.weight", "down_proj.weight"))
        deviation = usual / math.sqrt(2.0 * LAYERS) if residual else usual
        rng = Rng(mix64(SEED) ^ mix64(index))
        values = []
        for _ in range(count):
            total = -6.0
            for _ in range(12):
                total += rng.unit()
            values.append(deviation * total)
        pieces.append(np.array(values, np.float32) * np.float32(model.larger))
    return np.concatenate(pieces)


def state_file(tensors_in_order, values):
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in tensors_in_order:
        end = offset + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 16384)
    return struct.pack("<Q", len(text)) + text + values.astype("<f4").tobytes()


LLAMAS = {"llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
          "qwen2": (transformers.Qwen2Config, transformers.Qwen2ForCausalLM),
          "qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM)}


def door_of(model):
    if model.family in LLAMAS:
        return LLAMAS[model.family][1]
    return transformers.GPT2LMHeadModel if model.family == "gpt2" else transformers.OPTForCausalLM


def config_of(model):
    if model.family == "gpt2":
        return transformers.GPT2Config(
            vocab_size=VOCABULARY, n_positions=CONTEXT, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS,
            activation_function=model.activation, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
            architectures=["GPT2LMHeadModel"], bos_token_id=0, eos_token_id=0)
    if model.family in LLAMAS:
        return LLAMAS[model.family][0](
            vocab_size=VOCABULARY, max_position_embeddings=CONTEXT, hidden_size=WIDTH, num_hidden_layers=LAYERS,
            num_attention_heads=LLAMA_HEADS, num_key_value_heads=KEY_HEADS, head_dim=HEAD_WIDTH, intermediate_size=INNER,
            rms_norm_eps=EPSILON, rope_parameters={"rope_type": "default", "rope_theta": THETA},
            tie_word_embeddings=not model.own_head, bos_token_id=0, eos_token_id=0)
    # Without a padding token: its row would get no gradient as an input, and no token of ours is padding.
    return transformers.OPTConfig(
        vocab_size=VOCABULARY, max_position_embeddings=CONTEXT, hidden_size=WIDTH, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, ffn_dim=4 * WIDTH, activation_function=model.activation,
        do_layer_norm_before=model.norm_before, word_embed_proj_dim=model.embedding, dropout=0.0,
        attention_dropout=0.0, layerdrop=0.0, architectures=["OPTForCausalLM"], pad_token_id=None, bos_token_id=0,
        eos_token_id=0)


def assert_same_model(ours, theirs):
    for name in ("rope_parameters", "rms_norm_eps", "head_dim", "num_key_value_heads", "intermediate_size",
                 "tie_word_embeddings"):
        assert getattr(ours, name) == getattr(theirs, name), name


def open_in_transformers(file, model):
    """Any state file of ours with the config of its model spec, through the library's ordinary door. Of a Llama-shaped
    model the config is the very file that `potluck-node export` writes beside it, kept as config_<model>.json."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "model.safetensors").write_bytes(file)
        if model.family in LLAMAS:
            shutil.copy(HERE / f"config_{model.family}.json", pathlib.Path(folder, "config.json"))
            assert_same_model(transformers.AutoConfig.from_pretrained(folder), config_of(model))
        else:
            config_of(model).save_pretrained(folder)
        opened = door_of(model).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    return opened.train()


def parameters_in_order(opened, model):
    named = dict((opened.transformer if model.family == "gpt2" else opened).named_parameters())
    assert set(named) == {name for name, _ in tensors(model)}, "an unknown or a missing tensor"
    for name, shape in tensors(model):
        assert list(named[name].shape) == shape, name
    return [named[name] for name, _ in tensors(model)]


def flat(list_of_tensors):
    return torch.cat([t.detach().reshape(-1) for t in list_of_tensors])


def adamw(groups):
    return torch.optim.AdamW(groups, lr=PEAK_RATE, betas=(0.9, 0.95), eps=1e-8)


def ten_steps(parameters, decayed, clip, begin, optimizer_of=adamw, decay=0.1):
    """What an optimizer makes of `parameters`, of which `decayed` says one by one which decay: the norms of their
    gradients, and what is recorded. `begin(step)` returns the step's loss, and more to record of the first."""
    optimizer = optimizer_of(
        [{"params": [p for p, d in zip(parameters, decayed) if d == kind], "weight_decay": decay if kind else 0.0}
         for kind in (True, False)])
    out, losses, norms = {}, [], []
    for step in range(STEPS):
        loss, seen = begin(step)
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            out = dict(seen, gradient=flat([p.grad for p in parameters]))
        norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, clip)))
        for group in optimizer.param_groups:
            group["lr"] = PEAK_RATE * min(1.0, (step + 1) / 10)  # warm-up on fresh moments, core/training/trainer.h
        optimizer.step()
        losses.append(loss.item())
    assert max(norms) > clip, f"the clip has to act: {norms}"
    out["after"] = flat(parameters)
    out["losses"] = torch.tensor(losses, dtype=torch.float64)
    return out, norms


def is_matrix(parameters):
    return [p.dim() >= 2 for p in parameters]


def record(name, folder, out, initial, *modules):
    """Writes what was recorded, with the digest of the first state and the modules' versions."""
    metadata = {module.__name__: module.__version__ for module in (torch, *modules)}
    metadata["initial_state_sha256"] = hashlib.sha256(initial).hexdigest()
    safetensors.torch.save_file(out, pathlib.Path(folder, f"reference_{name}.safetensors"), metadata)
    print(name, metadata, "losses", out["losses"].tolist())


def arguments_of(text):
    arguments = argparse.ArgumentParser(description=text.splitlines()[0])
    arguments.add_argument("--to", default=HERE)
    return arguments


def mean_loss(opened, records):
    logits = opened(input_ids=records[:, :-1]).logits
    targets = records[:, 1:].reshape(-1)
    return logits, torch.nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), targets)


def make_records():
    torch.manual_seed(1)
    # Markov-like text, so that ten steps have something to learn.
    records = torch.randint(0, VOCABULARY, (STEPS, BATCH, CONTEXT + 1))
    for t in range(1, CONTEXT + 1):
        follow = torch.rand(STEPS, BATCH) < 0.7
        records[:, :, t] = torch.where(follow, (records[:, :, t - 1] * 5 + 3) % VOCABULARY, records[:, :, t])
    return records


def make(name, folder):
    model, records = MODELS[name], make_records()
    initial = state_file(tensors(model), initial_values(model))
    opened = open_in_transformers(initial, model)
    parameters = parameters_in_order(opened, model)

    def begin(step):
        logits, loss = mean_loss(opened, records[step])
        return loss, {"logits": logits.detach().clone()}

    out, norms = ten_steps(parameters, is_matrix(parameters), model.clip, begin)
    _, last = mean_loss(opened, records[0])
    _, reopened = mean_loss(open_in_transformers(state_file(tensors(model), out["after"].numpy()), model), records[0])
    assert last.item() == reopened.item(), "an exported state gives another loss in transformers"
    out["losses"] = torch.cat([out["losses"], last.detach().double().reshape(1)])
    out["norms"] = torch.tensor(norms, dtype=torch.float64)
    out["records"] = records.to(torch.int32)
    record(name, folder, out, initial, transformers)


if __name__ == "__main__":
    arguments = arguments_of(__doc__)
    arguments.add_argument("models", nargs="*", choices=[[], *MODELS])
    given = arguments.parse_args()
    for model_name in given.models or MODELS:
        make(model_name, given.to)
