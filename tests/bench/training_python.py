#!/usr/bin/env python3
"""What Python PyTorch reaches at the training of a GPT: the yardstick of bench_training.cpp.

The model is GPT-2 as its paper describes it (norms before, learned positions, tanh GELU, biases, tied head) or, with
--kv-heads, Llama (RMS norms, rotary positions, gated SiLU, no biases, tied head), or with --family transformers' own
AlbertForPreTraining, or a picture coder, a DALL-E or a SwAV as core/training/picture has them, in the operations that PyTorch
recommends: scaled_dot_product_attention, rms_norm, cross_entropy, AdamW(fused=True) with decay on matrices only,
gradients clipped to 1, autocast for bf16. A step is everything from tokens to new parameters.

Lines on standard input, each answered by one line of JSON:
  measure SECONDS   whole steps for about so long: tokens, wall and processor seconds, loss of the last step
POTLUCK_ISA in the environment (tests/bench/training --isa) also limits the code that torch.compile makes.
End of input ends it. The first line out, `{"ready": ...}`, comes after compilation and warm-up.

Usage: training_python.py --layers n --width n --heads n --context n --vocabulary n --batch n --threads n
                          [--precision fp32|bf16] [--compile] [--device cpu|cuda] [--kv-heads n --inner n]
                          [--family albert|coder|dalle|swav --side n]
"""
import argparse
import json
import math
import os
import resource
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x_BTC):
        b, t, c = x_BTC.shape
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2)
                   for part in self.qkv(self.norm1(x_BTC)).split(c, dim=2))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x_BTC = x_BTC + self.merge(attended.transpose(1, 2).reshape(b, t, c))
        return x_BTC + self.down(F.gelu(self.up(self.norm2(x_BTC)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(shape.context, shape.width)
        self.blocks = nn.ModuleList(Block(shape.width, shape.heads) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width)
        self.register_buffer("places", torch.arange(shape.context), persistent=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() >= 2:
                residual = name.endswith(("merge.weight", "down.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * shape.layers) if residual else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, inputs_BT, targets_BT):
        x_BTC = self.tokens(inputs_BT) + self.positions(self.places)
        for block in self.blocks:
            x_BTC = block(x_BTC)
        logits_BTV = F.linear(self.norm(x_BTC), self.tokens.weight)
        return F.cross_entropy(logits_BTV.view(-1, logits_BTV.size(-1)), targets_BT.reshape(-1))


class LlamaBlock(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.heads, self.kv_heads, self.depth = shape.heads, shape.kv_heads, shape.width // shape.heads
        joined = (shape.heads + 2 * shape.kv_heads) * self.depth
        self.norm1 = nn.RMSNorm(shape.width, eps=1e-5)
        self.qkv = nn.Linear(shape.width, joined, bias=False)
        self.merge = nn.Linear(shape.width, shape.width, bias=False)
        self.norm2 = nn.RMSNorm(shape.width, eps=1e-5)
        self.gate_up = nn.Linear(shape.width, 2 * shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, shape.width, bias=False)

    def turned(self, x_BHTD, cosines_TD, sines_TD):
        first, second = x_BHTD.chunk(2, dim=-1)
        return x_BHTD * cosines_TD + torch.cat((-second, first), dim=-1) * sines_TD

    def forward(self, x_BTC, cosines_TD, sines_TD):
        b, t, c = x_BTC.shape
        heads_BNTD = self.qkv(self.norm1(x_BTC)).view(b, t, -1, self.depth).transpose(1, 2)
        q, k, v = heads_BNTD.split((self.heads, self.kv_heads, self.kv_heads), dim=1)
        q, k = (self.turned(part, cosines_TD.to(part.dtype), sines_TD.to(part.dtype)) for part in (q, k))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.heads != self.kv_heads)
        x_BTC = x_BTC + self.merge(attended.transpose(1, 2).reshape(b, t, c))
        gate, up = self.gate_up(self.norm2(x_BTC)).chunk(2, dim=-1)
        return x_BTC + self.down(F.silu(gate) * up)


class Llama(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(LlamaBlock(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=1e-5)
        depth = shape.width // shape.heads
        angles = torch.outer(torch.arange(shape.context).float(), 1e4 ** (-torch.arange(0, depth, 2) / depth)).repeat(1, 2)
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() >= 2:
                residual = name.endswith(("merge.weight", "down.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * shape.layers) if residual else 0.02)

    def forward(self, inputs_BT, targets_BT):
        x_BTC = self.tokens(inputs_BT)
        for block in self.blocks:
            x_BTC = block(x_BTC, self.cosines, self.sines)
        logits_BTV = F.linear(self.norm(x_BTC), self.tokens.weight)
        return F.cross_entropy(logits_BTV.view(-1, logits_BTV.size(-1)), targets_BT.reshape(-1))


class Albert(nn.Module):
    """A sixth of the tokens are gaps; what they were and the order are asked for."""

    def __init__(self, shape):
        super().__init__()
        import transformers  # the only family that needs it
        self.pad, self.cls, self.sep, self.gap = range(256, 260)
        self.model = transformers.AlbertForPreTraining(transformers.AlbertConfig(
            vocab_size=shape.vocabulary, embedding_size=128, hidden_size=shape.width, num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads, intermediate_size=4 * shape.width, hidden_dropout_prob=0,
            attention_probs_dropout_prob=0, classifier_dropout_prob=0, max_position_embeddings=shape.context,
            pad_token_id=self.pad, bos_token_id=self.cls, eos_token_id=self.sep))
        gaps = torch.randperm(shape.context - 3, generator=torch.Generator().manual_seed(1))[:round(0.15 * shape.context)]
        self.register_buffer("gaps", 1 + gaps, persistent=False)

    def forward(self, inputs_BT, targets_BT):
        words_BT = inputs_BT % self.pad
        asked_BT = words_BT.clone()
        asked_BT[:, self.gaps] = self.gap
        asked_BT[:, 0] = self.cls
        labels_BT = torch.full_like(words_BT, -100)
        labels_BT[:, self.gaps] = words_BT[:, self.gaps]
        out = self.model(input_ids=asked_BT, labels=labels_BT, sentence_order_label=targets_BT[:, -1] % 2)
        return out.loss


class CoderBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(8, width), nn.GroupNorm(8, width)
        self.conv1, self.conv2 = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return x + self.conv2(F.silu(self.norm2(self.conv1(F.silu(self.norm1(x))))))


class Coder(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.side, c, levels = shape.side, shape.width, (8, 5, 5, 5)
        half = torch.tensor([(level - 1) * (1 + 1e-3) / 2 for level in levels]).view(-1, 1, 1)
        offset = torch.tensor([0.5 if level % 2 == 0 else 0.0 for level in levels]).view(-1, 1, 1)
        reach = torch.tensor([float(level // 2) for level in levels]).view(-1, 1, 1)
        for name, value in (("halves", half), ("offset", offset), ("turn", torch.atanh(offset / half)), ("reach", reach)):
            self.register_buffer(name, value, persistent=False)
        self.encoder = nn.Sequential(
            nn.Conv2d(3, c, 3, padding=1), *[part for _ in range(2) for part in (
                *[CoderBlock(c) for _ in range(shape.layers)], nn.Conv2d(c, c, 4, 2, 1))],
            *[CoderBlock(c) for _ in range(shape.layers)], nn.GroupNorm(8, c), nn.SiLU(), nn.Conv2d(c, len(levels), 1))
        self.decoder = nn.Sequential(
            nn.Conv2d(len(levels), c, 1), *[CoderBlock(c) for _ in range(shape.layers)], *[part for _ in range(2) for part in (
                nn.Upsample(scale_factor=2), nn.Conv2d(c, c, 3, padding=1), *[CoderBlock(c) for _ in range(shape.layers)])],
            nn.GroupNorm(8, c), nn.SiLU(), nn.Conv2d(c, 3, 3, padding=1))

    def forward(self, inputs_BT, targets_BT):
        wanted = (inputs_BT.float() / 255).view(-1, self.side, self.side, 3).permute(0, 3, 1, 2)
        bounded = torch.tanh(self.encoder(2 * wanted - 1) + self.turn) * self.halves - self.offset
        numbers = bounded + (bounded.round() - bounded).detach()
        apart = wanted - (0.5 * self.decoder(numbers / self.reach) + 0.5)
        steps = (apart.diff(dim=2).abs().mean() + apart.diff(dim=3).abs().mean()) / 2
        return apart.abs().mean() + 0.5 * apart.square().mean() + 0.25 * steps


class DalleBlock(nn.Module):
    """The weights that several layers share."""

    def __init__(self, c):
        super().__init__()
        self.qkv, self.out = nn.Linear(c, 3 * c, bias=False), nn.Linear(c, c)
        self.up, self.down = nn.Linear(c, 8 * c), nn.Linear(4 * c, c)


class DalleLayer(nn.Module):
    """What a layer has of its own: two norms and two scales."""

    def __init__(self, c):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(c), nn.LayerNorm(c)
        self.scale1, self.scale2 = nn.Parameter(torch.full((c,), 0.1)), nn.Parameter(torch.full((c,), 0.1))


class Dalle(nn.Module):
    """The preset dalle-emoji: 48 tokens of text and 64 codes, layers that share four blocks but for the last."""

    def __init__(self, shape):
        super().__init__()
        self.heads, self.depth, self.grid, c = shape.heads, shape.width // shape.heads, shape.side, shape.width
        self.rows, self.text_vocabulary = shape.context, 256
        self.text = shape.context - self.grid ** 2
        self.table, self.bias = nn.Embedding(shape.vocabulary, c), nn.Parameter(torch.zeros(shape.vocabulary))
        self.blocks = nn.ModuleList(DalleBlock(c) for _ in range(5))
        self.layers = nn.ModuleList(DalleLayer(c) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(c)
        nn.init.normal_(self.table.weight, std=0.02)
        for name, value in (*self.turns(), *self.masks()):
            self.register_buffer(name, value, persistent=False)

    def turns(self):
        third = self.depth // 3
        language = 1e4 ** (-torch.arange(0, third, 2)[:third // 2] / third)
        pixel = torch.linspace(1, 5, third // 2) * math.pi
        code = torch.arange(self.rows) - self.text - 1
        axis = torch.linspace(-1, 1, self.grid)
        y, x = (torch.where(code < 0, -10.0, axis[place]) for place in (code // self.grid, code % self.grid))
        row = torch.where(code < 0, torch.arange(self.rows), 8192).float()
        groups = [torch.outer(row, language), torch.outer(y, pixel), torch.outer(x, pixel)]
        angles = F.pad(torch.cat(groups, 1), (0, self.depth // 2 - 3 * (third // 2)))
        return ("cosines", angles.cos()), ("sines", angles.sin())

    def masks(self):
        rows = torch.arange(self.rows)
        code = rows - self.text - 1
        y, x = code // self.grid, code % self.grid
        apart = ((y[:, None] - y).abs(), (x[:, None] - x).abs())
        either = (code[:, None] < 0) | (code < 0)
        before = rows[:, None] >= rows
        return (("row_mask", before & (either | (apart[0] == 0))), ("column_mask", before & (either | (apart[1] == 0))),
                ("near_mask", before & (either | ((apart[0] < 3) & (apart[1] < 3)))))

    def shifted(self, x):
        b, rows, c = x.shape
        text, codes = x[:, :self.text + 1], x[:, self.text + 1:]
        text = torch.cat([F.pad(text[..., :c // 2], (0, 0, 1, -1)), text[..., c // 2:]], -1)
        whole = F.pad(codes, (0, 0, 0, self.grid ** 2 - codes.shape[1])).view(b, self.grid, self.grid, c)
        above, left, rest = whole.split((c // 4, c // 4, c // 2), -1)
        whole = torch.cat([F.pad(above, (0, 0, 0, 0, 1, -1)), F.pad(left, (0, 0, 1, -1)), rest], -1)
        return torch.cat([text, whole.view(b, -1, c)[:, :codes.shape[1]]], 1)

    def attention(self, x, block, mask):
        b, t, c = x.shape
        qkv = block.qkv(x).view(b, t, 3, self.heads, self.depth // 2, 2).permute(2, 0, 3, 1, 4, 5)
        one, two = qkv.unbind(-1)
        cosines, sines = self.cosines.to(one.dtype), self.sines.to(one.dtype)
        q, k, v = torch.stack([one * cosines - two * sines, two * cosines + one * sines], -1).flatten(-2)
        return block.out(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).reshape(b, t, c))

    def feed(self, x, block):
        value, gate = block.up(x).chunk(2, -1)
        return block.down(value * F.gelu(gate))

    def forward(self, inputs_BT, targets_BT):
        own = self.text_vocabulary
        places = torch.arange(self.rows + 1, device=inputs_BT.device) <= self.text
        ids = torch.cat([inputs_BT, targets_BT[:, -1:]], 1)
        ids = torch.where(places, ids % own, own + ids % (self.table.num_embeddings - own))
        one = two = self.table(ids[:, :-1])
        for i, layer in enumerate(self.layers):
            last = i + 1 == len(self.layers)
            block = self.blocks[4 if last else i % 4]
            mask = self.near_mask if last else self.column_mask if i % 4 == 1 else self.row_mask
            one = one + layer.scale1 * self.attention(self.shifted(layer.norm1(two)), block, mask)
            two = two + layer.scale2 * self.feed(self.shifted(layer.norm2(one)), block)
        rows = self.norm((one + two) / 2)
        text = F.linear(rows[:, :self.text], self.table.weight[:own], self.bias[:own])
        codes = F.linear(rows[:, self.text:], self.table.weight[own:], self.bias[own:])
        text_loss = F.cross_entropy(text.flatten(0, 1), ids[:, 1:self.text + 1].flatten())
        return (text_loss + 7 * F.cross_entropy(codes.flatten(0, 1), (ids[:, self.text + 1:] - own).flatten())) / 8


class SwavBlock(nn.Module):
    def __init__(self, width, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(width, out, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        same = stride == 1 and width == out
        self.short = nn.Identity() if same else nn.Sequential(nn.Conv2d(width, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.short(x) + self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x))))))


class Swav(nn.Module):
    """The preset swav-tiny. Crops are cut and changed outside of what is measured: ours draws them within its step."""

    def __init__(self, shape):
        super().__init__()
        self.side, c = shape.side, shape.width
        self.stem = nn.Sequential(nn.Conv2d(3, c, 3, padding=1, bias=False), nn.BatchNorm2d(c), nn.ReLU())
        self.blocks = nn.Sequential(*[SwavBlock(max(c, c << i >> 1), c << i, 1 if i == 0 else 2) for i in range(4)])
        self.head = nn.Sequential(nn.Linear(8 * c, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 128))
        self.prototypes = nn.Linear(128, 100, bias=False)

    def features(self, crops):
        return self.blocks(self.stem(crops.contiguous(memory_format=torch.channels_last))).mean((2, 3))

    @torch.no_grad()
    def assigned(self, scores):
        q = torch.exp((scores - scores.max()) / 0.03).t()
        for _ in range(3):
            q = q / q.sum(1, keepdim=True) / q.shape[0]
            q = q / q.sum(0, keepdim=True) / q.shape[1]
        return (q * q.shape[1]).t()

    def forward(self, inputs_BT, targets_BT):
        pictures = (inputs_BT.float() / 255).view(-1, self.side, self.side, 3).permute(0, 3, 1, 2).contiguous()
        large = torch.cat([pictures, pictures.flip(3)])
        small = torch.cat([pictures[:, :, y:y + self.side // 2, x:x + self.side // 2] for y in (0, self.side // 2)
                           for x in (0, self.side // 2)])
        z = F.normalize(self.head(torch.cat([self.features(large), self.features(small)])))
        scores = F.linear(z, F.normalize(self.prototypes.weight))
        told = (scores / 0.1).log_softmax(1).view(6, len(pictures), -1)
        everything = told.sum(0)
        return sum(-(self.assigned(part.detach()) * (everything - told[i])).sum()
                   for i, part in enumerate(scores.view(6, len(pictures), -1)[:2])) / (2 * 5 * len(pictures))


class Training:
    def __init__(self, given):
        torch.manual_seed(1)
        self.given = given
        kind = {"albert": Albert, "coder": Coder, "dalle": Dalle, "swav": Swav}.get(given.family, Llama if given.kv_heads else Gpt)
        self.model = kind(given).to(given.device)
        if given.family == "swav":  # as its convolutions are fastest; a picture coder is not
            self.model = self.model.to(memory_format=torch.channels_last)
        self.parameters = list(self.model.parameters())
        self.optimizer = torch.optim.AdamW(
            [{"params": [p for p in self.parameters if p.dim() >= 2], "weight_decay": 0.1},
             {"params": [p for p in self.parameters if p.dim() < 2], "weight_decay": 0.0}],
            lr=1e-4, betas=(0.9, 0.95), fused=True)
        self.loss_of = torch.compile(self.model) if given.compile else self.model
        self.records = torch.randint(0, given.vocabulary, (32, given.batch, given.context + 1)).to(given.device)
        self.steps = 0

    def step(self):
        records = self.records[self.steps % len(self.records)]
        self.steps += 1
        with torch.autocast(self.given.device, dtype=torch.bfloat16, enabled=self.given.precision == "bf16"):
            loss = self.loss_of(records[:, :-1], records[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss

    def finish(self):
        if self.given.device == "cuda":
            torch.cuda.synchronize()

    def measure(self, seconds):
        wall, processor, steps = time.perf_counter(), time.process_time(), self.steps
        passed = 0.0
        while passed < seconds:
            loss = self.step()
            # Asking a GPU for the time after each step would empty its queue.
            if self.given.device == "cpu" or self.steps % 8 == 0:
                self.finish()
                passed = time.perf_counter() - wall
        return {"tokens": (self.steps - steps) * self.given.batch * self.given.context, "wall": passed,
                "processor": time.process_time() - processor, "loss": loss.item(), **self.memory()}

    def memory(self):
        out = {"peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}
        if self.given.device == "cuda":
            out["peak_gpu_mib"] = torch.cuda.max_memory_allocated() >> 20
        return out


def main():
    arguments = argparse.ArgumentParser()
    for name in ("layers", "width", "heads", "context", "vocabulary", "batch"):
        arguments.add_argument(f"--{name}", type=int, required=True)
    arguments.add_argument("--family", choices=["albert", "coder", "dalle", "swav"])
    for name in ("kv-heads", "inner", "side"):
        arguments.add_argument(f"--{name}", type=int, default=0)
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    arguments.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    arguments.add_argument("--compile", action="store_true")
    given = arguments.parse_args()
    torch.set_num_threads(given.threads)
    march = {"avx2": "x86-64-v3", "baseline": "x86-64-v2"}.get(os.environ.get("POTLUCK_ISA"))
    if given.compile and march:  # the width of its vectors follows ATEN_CPU_CAPABILITY, the rest of the code this
        from torch._inductor import config as inductor
        inductor.cpp.march = march
    if given.device == "cuda":
        torch.set_float32_matmul_precision("high")
    training = Training(given)
    start = time.perf_counter()
    for _ in range(3):
        training.step()
    training.finish()
    ready = {"torch": torch.__version__, "warm_up_seconds": time.perf_counter() - start,
             "parameters": sum(p.numel() for p in training.parameters), "threads": torch.get_num_threads(),
             "capability": torch.backends.cpu.get_cpu_capability()}
    if given.device == "cuda":
        ready["device"] = torch.cuda.get_device_name()
    print(json.dumps({"ready": ready}), flush=True)
    for line in sys.stdin:
        word, seconds = line.split()
        assert word == "measure"
        print(json.dumps(training.measure(float(seconds))), flush=True)


if __name__ == "__main__":
    main()
