#!/usr/bin/env python3
"""Writes seeded.txt: what follows from a seed alone, independently of the C++ code. Run it in its own folder.

The sample order (core/run/sample_order.h) and theta[0] (core/model/initial_state.h), from SplitMix64 (Steele, Lea, Flood
2014). tests/golden/test_seeded_vectors.cpp checks that the product finds the same.
"""
import hashlib
import math
import struct

MASK = (1 << 64) - 1
SHARD, RECORDS = 1, 2  # what a key is for


def mix(x):
    x = x + 0x9E3779B97F4A7C15 & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def key(seed, round, peer, purpose):
    """Each part is mixed into the last; a peer's 32 bytes are four little-endian words."""
    state = mix(mix(seed + purpose & MASK) ^ round)
    for word in struct.unpack("<4Q", peer):
        state = mix(state ^ word)
    return state


def permuted(permutation, size, index):
    """A Feistel network of four rounds over the smallest square of a power of two that holds `size`; an image outside
    goes through the network again."""
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    low = (1 << half) - 1
    while True:
        left, right = index >> half, index & low
        for number in range(4):
            left, right = right, left ^ mix(permutation ^ mix(right + (number << 56))) & low
        index = left << half | right
        if index < size:
            return index


def shard(seed, round, peer, shards):
    return key(seed, round, peer, SHARD) % shards


def record(seed, round, peer, records, n):
    epoch = n // records
    return permuted(mix(key(seed, round, peer, RECORDS) ^ epoch), records, n % records)


def gpt2(vocabulary, context, layers, c):
    yield from (("wte.weight", (vocabulary, c)), ("wpe.weight", (context, c)))
    for layer in range(layers):
        for name, shape in (("ln_1", (c,)), ("attn.c_attn", (c, 3 * c)), ("attn.c_proj", (c, c)), ("ln_2", (c,)),
                            ("mlp.c_fc", (c, 4 * c)), ("mlp.c_proj", (4 * c, c))):
            yield f"h.{layer}.{name}.weight", shape
            yield f"h.{layer}.{name}.bias", shape[-1:]
    yield from (("ln_f.weight", (c,)), ("ln_f.bias", (c,)))


def opt(vocabulary, context, layers, c):
    yield from (("embed_tokens.weight", (vocabulary, c)), ("embed_positions.weight", (context + 2, c)))
    for layer in range(layers):
        at = f"layers.{layer}."
        yield from ((at + "self_attn_layer_norm.weight", (c,)), (at + "self_attn_layer_norm.bias", (c,)))
        for kind, shape in (("weight", (c, c)), ("bias", (c,))):
            yield from ((f"{at}self_attn.{part}_proj.{kind}", shape) for part in "qkv")
        for name, shape in (("self_attn.out_proj", (c, c)), ("final_layer_norm", (c,)), ("fc1", (4 * c, c)),
                            ("fc2", (c, 4 * c))):
            yield from ((f"{at}{name}.weight", shape), (f"{at}{name}.bias", shape[:1]))
    yield from (("final_layer_norm.weight", (c,)), ("final_layer_norm.bias", (c,)))


def llama(vocabulary, context, layers, c, heads=4, kv_heads=1, head=32, inner=384):
    """What an untouched LlamaShape says; positions are rotary, so the context has no tensor."""
    yield "model.embed_tokens.weight", (vocabulary, c)
    for layer in range(layers):
        at = f"model.layers.{layer}."
        for name, shape in (("input_layernorm", (c,)), ("self_attn.q_proj", (heads * head, c)),
                            ("self_attn.k_proj", (kv_heads * head, c)), ("self_attn.v_proj", (kv_heads * head, c)),
                            ("self_attn.o_proj", (c, heads * head)), ("post_attention_layernorm", (c,)),
                            ("mlp.gate_proj", (inner, c)), ("mlp.up_proj", (inner, c)), ("mlp.down_proj", (c, inner))):
            yield f"{at}{name}.weight", shape
    yield "model.norm.weight", (c,)


def initial_state(tensors, usual, layers, seed):
    """Gains are one, biases zero, all else the sum of twelve uniform numbers minus six, times its deviation, as fp32.
    Tensor i, counted from one, draws from a stream of its own."""
    out = bytearray()
    for number, (name, shape) in enumerate(tensors, 1):
        count = math.prod(shape)
        if name.endswith(".bias") or len(shape) == 1:
            out += struct.pack("<f", 0.0 if name.endswith(".bias") else 1.0) * count
            continue
        residual = name.endswith(("c_proj.weight", "out_proj.weight", "fc2.weight", ".o_proj.weight",
                                  "down_proj.weight"))
        deviation = usual / math.sqrt(2.0 * layers) if residual else usual
        state = mix(seed) ^ mix(number)
        for _ in range(count):
            total = -6.0
            for _ in range(12):
                total += (mix(state) >> 11) * 2.0**-53
                state = state + 0x9E3779B97F4A7C15 & MASK
            out += struct.pack("<f", deviation * total)
    return hashlib.sha256(out).hexdigest()


def main():
    rows = ["# shard: seed, round, byte of the peer's key, shards, the shard",
            "# record: seed, round, byte of the peer's key, records, position, the record",
            "# state: family, vocabulary, context, layers, width, seed, SHA-256 of theta[0] (fp32, little-endian)"]
    for seed, round, fill, shards in ((7, 3, 0x51, 1_000_000), (MASK, 0, 0, 8), (1, 1 << 40, 0xFF, 4096), (1, 4, 0x51, 3)):
        rows.append(f"shard {seed} {round} {fill} {shards} {shard(seed, round, bytes([fill]) * 32, shards)}")
    for seed, round, fill, records, n in ((7, 3, 0x51, 1_000_000, 999_999), (7, 3, 0x51, 1_000_000, 1_000_000),
                                          (7, 3, 0x51, 1_000_000, 1_000_001), (1, 0, 0x22, 1, 5), (1, 0, 0x22, 2, 1),
                                          (MASK, 1 << 40, 0xFF, 1 << 40, 123), (9, 12, 0xA1, 65_537, 1 << 50)):
        rows.append(f"record {seed} {round} {fill} {records} {n} {record(seed, round, bytes([fill]) * 32, records, n)}")
    for family, tensors, usual in (("gpt2", gpt2, 0.02), ("opt", opt, 0.006), ("llama", llama, 0.02)):
        for layers, seed in ((1, 1), (3, MASK)):
            digest = initial_state(tensors(256, 16, layers, 8), usual, layers, seed)
            rows.append(f"state {family} 256 16 {layers} 8 {seed} {digest}")
    with open("seeded.txt", "w", newline="\n") as file:
        file.write("\n".join(rows) + "\n")


main()
