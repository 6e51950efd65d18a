#!/usr/bin/env python3
"""Writes tiny checkpoints as Hugging Face transformers saves them, and the flat vector that each must load to.

Run it in its own folder with torch, transformers and safetensors. Every folder holds config.json, one or several
safetensors files, and expected.f32: the parameters as fp32, little-endian, in the order of docs/wire-format.md.
tests/golden/test_checkpoints.cpp checks that the product reads exactly these numbers.
"""
import pathlib
import shutil

import torch
from safetensors.torch import save_file
from transformers import (GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, OPTConfig, OPTForCausalLM, Qwen2Config,
                          Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM)

LAYERS = 2


def affine(name):
    return [name + ".weight", name + ".bias"]


def gpt2_order():
    names = ["transformer.wte.weight", "transformer.wpe.weight"]
    for i in range(LAYERS):
        for part in ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"):
            names += affine(f"transformer.h.{i}.{part}")
    return names + affine("transformer.ln_f")


def opt_order(config):
    names = ["embed_tokens.weight", "embed_positions.weight"]
    if config.word_embed_proj_dim != config.hidden_size:
        names += ["project_in.weight", "project_out.weight"]
    for i in range(LAYERS):
        layer = f"layers.{i}."
        names += affine(layer + "self_attn_layer_norm")
        names += [f"{layer}self_attn.{part}_proj.{kind}" for kind in ("weight", "bias") for part in "qkv"]
        for part in ("self_attn.out_proj", "final_layer_norm", "fc1", "fc2"):
            names += affine(layer + part)
    if config.do_layer_norm_before:
        names += affine("final_layer_norm")
    return ["model.decoder." + name for name in names]


def llama_order(config):
    names = ["model.embed_tokens.weight"] + ([] if config.tie_word_embeddings else ["lm_head.weight"])
    for i in range(LAYERS):
        attention = f"model.layers.{i}.self_attn."
        names.append(f"model.layers.{i}.input_layernorm.weight")
        names += [f"{attention}{part}_proj.weight" for part in "qkv"]
        if config.model_type == "qwen2":
            names += [f"{attention}{part}_proj.bias" for part in "qkv"]
        if config.model_type == "qwen3":
            names += [f"{attention}{part}_norm.weight" for part in "qk"]
        names += [f"model.layers.{i}.{part}.weight" for part in
                  ("self_attn.o_proj", "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")]
    return names + ["model.norm.weight"]


def gpt2(vocabulary=20):
    return GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary, n_positions=8, n_embd=8, n_layer=LAYERS, n_head=2,
                                      bos_token_id=0, eos_token_id=0))


def opt(vocabulary=20, **more):
    return OPTForCausalLM(OPTConfig(vocab_size=vocabulary, max_position_embeddings=8, hidden_size=8, num_hidden_layers=LAYERS,
                                    num_attention_heads=2, ffn_dim=32, bos_token_id=0, eos_token_id=0, **more))


def llama(config, model, vocabulary=20, **more):
    return model(config(vocab_size=vocabulary, max_position_embeddings=8, hidden_size=8, num_hidden_layers=LAYERS,
                        num_attention_heads=2, num_key_value_heads=1, intermediate_size=12, bos_token_id=0, eos_token_id=0,
                        rope_parameters={"rope_type": "default", "rope_theta": 500.0}, **more))


def save(name, model, order, dtype, **options):
    torch.manual_seed(len(name))
    with torch.no_grad():  # biases and gains too, over many magnitudes
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 10 ** torch.empty_like(parameter).uniform_(-7, 1))
    model = model.to(dtype)
    shutil.rmtree(name, ignore_errors=True)
    model.save_pretrained(name, **options)
    pathlib.Path(name, "generation_config.json").unlink(missing_ok=True)
    state = model.state_dict()
    flat = torch.cat([state[key].float().flatten() for key in order])
    pathlib.Path(name, "expected.f32").write_bytes(flat.numpy().astype("<f4").tobytes())
    return state, flat


def main():
    save("gpt2_fp32", gpt2(), gpt2_order(), torch.float32)
    save("gpt2_bf16_sharded", gpt2(), gpt2_order(), torch.bfloat16, max_shard_size="2KB")
    model = opt()
    save("opt_fp16", model, opt_order(model.config), torch.float16)
    model = opt(word_embed_proj_dim=4, do_layer_norm_before=False)
    save("opt_post_fp32_sharded", model, opt_order(model.config), torch.float32, max_shard_size="4KB")
    # Models of bytes, which need no tokenizer to be hosted from.
    save("gpt2_bytes", gpt2(256), gpt2_order(), torch.bfloat16)
    model = opt(256)
    save("opt_bytes_sharded", model, opt_order(model.config), torch.float16, max_shard_size="4KB")
    model = llama(LlamaConfig, LlamaForCausalLM, rms_norm_eps=1e-5)
    save("llama_fp32", model, llama_order(model.config), torch.float32)
    model = llama(Qwen2Config, Qwen2ForCausalLM, tie_word_embeddings=True)
    save("qwen2_bf16_sharded", model, llama_order(model.config), torch.bfloat16, max_shard_size="1KB")
    model = llama(Qwen3Config, Qwen3ForCausalLM, head_dim=6)
    save("qwen3_fp16", model, llama_order(model.config), torch.float16)
    model = llama(LlamaConfig, LlamaForCausalLM, vocabulary=256, tie_word_embeddings=True)
    save("llama_bytes", model, llama_order(model.config), torch.bfloat16)
    # As the first GPT-2 checkpoints on the hub are: no wrapper around the names, masks among the weights, a head.
    state, _ = save("gpt2_old", gpt2(), gpt2_order(), torch.float32)
    old = {key.removeprefix("transformer."): value.clone() for key, value in state.items()}
    for i in range(LAYERS):
        old[f"h.{i}.attn.bias"] = torch.tril(torch.ones(8, 8, dtype=torch.bool)).view(1, 1, 8, 8)
        old[f"h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
    save_file(old, "gpt2_old/model.safetensors", metadata={"format": "pt"})


main()
