#!/usr/bin/env python3
"""Records what PyTorch computes of a SwAV, for test_swav_parity.cpp.

As make_coder_reference.py: our initial state, then what torch makes of it: crops, assignments, the loss, every gradient,
and ten clipped AdamW steps with a queue that fills on the way. Crops are drawn as core/training/picture/crops.cpp draws
them and computed with torch's own resizing, colorsys and a convolution. The network below is all of it, after
torchvision's resnet.py and facebookresearch/swav, main_swav.py; its norms always use the batch.

Usage: make_swav_reference.py [--to folder]      (writes reference_swav.safetensors and, of bottlenecks behind the large
stem, reference_swav_bottleneck.safetensors)
"""
import colorsys
import dataclasses
import math

import numpy as np
import safetensors.torch
import torch
from torch.nn import functional as F

from make_reference import Rng, arguments_of, mix64, record, state_file, ten_steps

# The clip is so tight that a gradient which is nothing but rounding moves nothing through AdamW's epsilon.
BATCH, STEPS, CLIP, SEED = 3, 10, 1e-4, 7
RUN_SEED, ROUND, MASK = 5, 2, (1 << 64) - 1
MEANS, DEVIATIONS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclasses.dataclass
class Shape:
    name: str
    bottleneck: bool
    side: int = 16
    width: int = 8
    stages: tuple = (1, 1, 1, 1)
    hidden: int = 24
    embedding: int = 16
    prototypes: int = 12
    large_side: int = 16
    small_side: int = 12
    small_crops: int = 2
    area_min: float = 0.2
    area_split: float = 0.5
    temperature: float = 0.1
    epsilon: float = 0.05
    queue: int = 6

    def parts(self):
        """(name, in, out, size, stride) of each convolution and (name, width) of each norm, in their order."""
        parts, into, expansion = [], self.width, 4 if self.bottleneck else 1

        def unit(name, suffix, i, o, size, stride):
            parts.extend([(f"{name}conv{suffix}", i, o, size, stride), (f"{name}bn{suffix}", o)])

        unit("", "1", 3, self.width, *((7, 2) if self.bottleneck else (3, 1)))
        for stage, blocks in enumerate(self.stages):
            planes = self.width << stage
            for i in range(blocks):
                name, stride = f"layer{stage + 1}.{i}.", 2 if stage and not i else 1
                if self.bottleneck:
                    unit(name, "1", into, planes, 1, 1)
                    unit(name, "2", planes, planes, 3, stride)
                    unit(name, "3", planes, planes * 4, 1, 1)
                else:
                    unit(name, "1", into, planes, 3, stride)
                    unit(name, "2", planes, planes, 3, 1)
                if stride == 2 or into != planes * expansion:
                    parts.extend([(name + "downsample.0", into, planes * expansion, 1, stride),
                                  (name + "downsample.1", planes * expansion)])
                into = planes * expansion
        return parts, into

    def tensors(self):
        parts, features = self.parts()
        made = []
        for name, *shape in parts:
            if len(shape) == 4:
                made.append((name + ".weight", [shape[1], shape[0], shape[2], shape[2]]))
            else:
                made += [(name + ".weight", shape), (name + ".bias", shape)]
        head = "projection_head."
        return made + [(head + "0.weight", [self.hidden, features]), (head + "0.bias", [self.hidden]),
                       (head + "1.weight", [self.hidden]), (head + "1.bias", [self.hidden]),
                       (head + "3.weight", [self.embedding, self.hidden]), (head + "3.bias", [self.embedding]),
                       ("prototypes.weight", [self.prototypes, self.embedding])]


def normal(rng):
    total = -6.0
    for _ in range(12):
        total += rng.unit()
    return total


def initial_values(shape):
    pieces, reads = [], 0
    for index, (name, size) in enumerate(shape.tensors(), 1):
        count, rng = math.prod(size), Rng(mix64(SEED) ^ mix64(index))
        if len(size) == 4:
            deviation = math.sqrt(2 / (count // size[1]))
            pieces.append(np.array([deviation * normal(rng) for _ in range(count)], np.float32))
        elif len(size) == 2 or name in ("projection_head.0.bias", "projection_head.3.bias"):
            reads = size[1] if len(size) == 2 else reads
            bound = 1 / math.sqrt(reads)
            pieces.append(np.array([bound * (2 * rng.unit() - 1) for _ in range(count)], np.float32))
        else:
            pieces.append(np.full(count, 1 if name.endswith("weight") else 0, np.float32))
    return np.concatenate(pieces)


def between(rng, low, high):
    return low + (high - low) * rng.unit()


def draw_crop(side, area_min, area_max, seed):
    rng, plan, found = Rng(seed), {}, False
    for _ in range(10):
        area = side * side * between(rng, area_min, area_max)
        ratio = math.exp(between(rng, math.log(3 / 4), math.log(4 / 3)))
        width, height = math.floor(math.sqrt(area * ratio) + 0.5), math.floor(math.sqrt(area / ratio) + 0.5)
        found = 1 <= width <= side and 1 <= height <= side
        if found:
            plan.update(top=rng.next() % (side - height + 1), left=rng.next() % (side - width + 1), height=height,
                        width=width)
            break
    if not found:
        plan.update(top=0, left=0, height=side, width=side)
    plan["mirrored"], plan["recoloured"] = rng.unit() < 0.5, rng.unit() < 0.8
    order = [0, 1, 2, 3]
    for i in (3, 2, 1):
        j = rng.next() % (i + 1)
        order[i], order[j] = order[j], order[i]
    plan["order"] = order
    plan["factors"] = [between(rng, 0.2, 1.8) for _ in range(3)] + [between(rng, -0.2, 0.2)]
    plan["grey"], blurred, deviation = rng.unit() < 0.2, rng.unit() < 0.5, between(rng, 0.1, 2)
    plan["blur"] = deviation if blurred else 0
    return plan


def grey(x):
    return (x * torch.tensor([0.299, 0.587, 0.114])[:, None, None]).sum(0)


def crop_of(picture, plan, side):
    """(3, S, S) of 0..1 to (3, side, side), normed."""
    box = picture[:, plan["top"]:plan["top"] + plan["height"], plan["left"]:plan["left"] + plan["width"]]
    x = F.interpolate(box[None], (side, side), mode="bilinear", antialias=True)[0]
    x = x.flip(2) if plan["mirrored"] else x
    for change in plan["order"] if plan["recoloured"] else []:
        factor = plan["factors"][change]
        if change == 3:
            turned = x.clone()
            for i in range(side):
                for j in range(side):
                    h, s, v = colorsys.rgb_to_hsv(*x[:, i, j].tolist())
                    turned[:, i, j] = torch.tensor(colorsys.hsv_to_rgb((h + factor) % 1, s, v))
            x = turned
        else:
            other = (torch.zeros(()), grey(x).mean(), grey(x))[change]
            x = (factor * x + (1 - factor) * other).clamp(0, 1)
    if plan["grey"]:
        x = grey(x).expand(3, -1, -1)
    if plan["blur"]:
        deviation = plan["blur"] * min(1, side / 96)
        reach = min(side - 1, math.ceil(4 * deviation))
        line = torch.exp(-0.5 * (torch.arange(-reach, reach + 1).double() / deviation) ** 2)
        line = (line / line.sum()).float()
        x = F.pad(x[None], [reach] * 4, mode="reflect")
        x = F.conv2d(F.conv2d(x, line.view(1, 1, 1, -1).expand(3, 1, 1, -1), groups=3),
                     line.view(1, 1, -1, 1).expand(3, 1, -1, 1), groups=3)[0]
    return (x - torch.tensor(MEANS)[:, None, None]) / torch.tensor(DEVIATIONS)[:, None, None]


def crops_of(shape, records, first):
    """Lists of crops, (B, 3, side, side) each: the large ones, then the small ones."""
    seed = mix64(RUN_SEED ^ mix64(ROUND ^ MASK))
    rules = [(shape.large_side, shape.area_split, 1.0)] * 2 + \
            [(shape.small_side, shape.area_min, shape.area_split)] * shape.small_crops
    made = [[] for _ in rules]
    for i, one in enumerate(records):
        picture = (torch.tensor(one[:-1]).float() / 255).view(shape.side, shape.side, 3).permute(2, 0, 1)
        seeds = Rng(mix64(seed ^ mix64(first + i)))
        for crops, (side, low, high) in zip(made, rules):
            crops.append(crop_of(picture, draw_crop(shape.side, low, high, seeds.next()), side))
    return [torch.stack(crops) for crops in made]


def sinkhorn(scores, epsilon):
    q = torch.exp((scores - scores.max()) / epsilon).T
    q = q / q.sum()
    for _ in range(3):
        q = q / q.sum(1, keepdim=True) / q.shape[0]
        q = q / q.sum(0, keepdim=True) / q.shape[1]
    return (q * q.shape[1]).T


class Swav:
    def __init__(self, shape, weights):
        self.shape, self.weights, self.parts = shape, weights, {part[0]: part[1:] for part in shape.parts()[0]}
        self.queues = [[], []]

    def convolved(self, name, x):
        _, _, size, stride = self.parts[name]
        return F.conv2d(x, self.weights[name + ".weight"], None, stride, size // 2)

    def normed(self, name, x):
        return F.batch_norm(x, None, None, self.weights[name + ".weight"], self.weights[name + ".bias"], True, 0, 1e-5)

    def trunk(self, x):
        x = F.relu(self.normed("bn1", self.convolved("conv1", x)))
        x = F.max_pool2d(x, 3, 2, 1) if self.shape.bottleneck else x
        for stage, blocks in enumerate(self.shape.stages):
            for i in range(blocks):
                name, y = f"layer{stage + 1}.{i}.", x
                units = ("1", "2", "3") if self.shape.bottleneck else ("1", "2")
                for unit in units:
                    y = self.normed(name + "bn" + unit, self.convolved(name + "conv" + unit, y))
                    y = F.relu(y) if unit != units[-1] else y
                if name + "downsample.0" in self.parts:
                    x = self.normed(name + "downsample.1", self.convolved(name + "downsample.0", x))
                x = F.relu(x + y)
        return x.mean((2, 3))

    def embedded(self, crops):
        w = self.weights
        features = torch.cat([self.trunk(torch.cat(crops[:2])), self.trunk(torch.cat(crops[2:]))])
        head = "projection_head."
        inner = F.relu(self.normed(head + "1", F.linear(features, w[head + "0.weight"], w[head + "0.bias"])))
        return F.normalize(F.linear(inner, w[head + "3.weight"], w[head + "3.bias"]))

    def loss(self, crops):
        z = self.embedded(crops)
        prototypes = F.normalize(self.weights["prototypes.weight"])
        scores = z @ prototypes.T
        told = (scores / self.shape.temperature).log_softmax(1).chunk(len(crops))
        loss, assigned = 0.0, []
        for i in range(2):
            own, queue = scores.chunk(len(crops))[i].detach(), self.queues[i]
            full = sum(len(rows) for rows in queue) == self.shape.queue
            if full:
                own = torch.cat([torch.cat(queue) @ prototypes.detach().T, own])
            q = sinkhorn(own, self.shape.epsilon)[-BATCH:]
            assigned.append(q)
            others = [-(q * one).sum(1).mean() for v, one in enumerate(told) if v != i]
            loss = loss + sum(others) / len(others) / 2
            queue.insert(0, z.detach().chunk(len(crops))[i])
            while sum(len(rows) for rows in queue) > self.shape.queue:
                queue.pop()
        return loss, torch.cat(assigned)


def make_records(side):
    """Discs and squares on grounds, coloured by chance, each with its class. With some seeds (11, for one) a pass in
    another order of sums meets the other side of a relu, and ten steps end 1e-3 nats apart; with most, 5e-7."""
    rng, records = Rng(19), []
    for _ in range(STEPS * BATCH):
        ground, front = ([rng.next() % 256 for _ in range(3)] for _ in range(2))
        x0, y0, size, disc = rng.next() % side, rng.next() % side, 3 + rng.next() % 7, rng.next() % 2
        one = []
        for y in range(side):
            for x in range(side):
                inside = (x - x0) ** 2 + (y - y0) ** 2 < size * size if disc else abs(x - x0) < size // 2
                one += [value + (x + y) * side // 4 if value < 128 else value for value in (front if inside else ground)]
        records.append(one + [1 + disc])
    return records


def main(folder):
    # Ten steps with the usual temperature and epsilon end apart by 7 % of the way where the first state differs by 1e-7;
    # with these, by 5e-6.
    for shape in (Shape("swav", False, temperature=0.5, epsilon=0.5),
                  Shape("swav_bottleneck", True, large_side=48, small_side=40)):
        initial = state_file(shape.tensors(), initial_values(shape))
        weights = {name: tensor.requires_grad_() for name, tensor in safetensors.torch.load(initial).items()}
        parameters = [weights[name] for name, _ in shape.tensors()]
        swav, records = Swav(shape, weights), make_records(shape.side)

        def begin(step):
            first = step * BATCH
            crops = crops_of(shape, records[first:first + BATCH], first)
            loss, assigned = swav.loss(crops)
            return loss, {"figures": torch.tensor([loss.item()], dtype=torch.float64), "assigned": assigned.contiguous(),
                          "large": torch.cat(crops[:2]), "small": torch.cat(crops[2:])}

        decayed = [len(size) > 1 for _, size in shape.tensors()]
        out, _ = ten_steps(parameters, decayed, CLIP, begin)
        if shape.bottleneck:  # its lengths are enough to compare
            places = np.cumsum([0] + [math.prod(size) for _, size in shape.tensors()])
            pieces = [out["gradient"][a:b].double().norm() for a, b in zip(places, places[1:])]
            out = {"figures": out["figures"], "lengths": torch.stack(pieces), "losses": out["losses"]}
        out["records"] = torch.tensor(records, dtype=torch.int32)
        record(shape.name, folder, out, initial)


if __name__ == "__main__":
    main(arguments_of(__doc__).parse_args().to)
