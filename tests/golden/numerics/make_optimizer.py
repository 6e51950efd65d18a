"""Records ten steps of torch.optim.AdamW and of LAMB in numpy's double precision: optimizer_reference.txt.

    make_optimizer.py > optimizer_reference.txt

Parameters and gradients are small fractions that both sides compute alike (fraction below).
"""
import numpy as np
import torch

SIZE, STEPS = 60, 10
RATE, BETA1, BETA2, EPSILON, DECAY = 0.02, 0.9, 0.95, 1e-8, 0.1


def fraction(i, salt):
    return np.float32(((i * 7919 + salt * 104729) % 2001 - 1000) / 1000)


def start():
    return np.array([fraction(i, 99) for i in range(SIZE)], dtype=np.float32)


def gradient(step):
    scale = np.array([10.0 ** (i % 5 - 4) for i in range(SIZE)], dtype=np.float32)
    return np.array([fraction(i, step) for i in range(SIZE)], dtype=np.float32) * scale


def adamw():
    parameters = torch.nn.Parameter(torch.from_numpy(start()))
    optimizer = torch.optim.AdamW([parameters], lr=RATE, betas=(BETA1, BETA2), eps=EPSILON, weight_decay=DECAY)
    for step in range(1, STEPS + 1):
        parameters.grad = torch.from_numpy(gradient(step))
        optimizer.step()
    return parameters.detach().numpy()


def lamb(debias):
    """You et al. 2020, algorithm 2, with phi the identity: with the moments debiased; or as torch_optimizer 0.3's Lamb,
    the learning rate, or nothing."""
    p = start().astype(np.float64)
    m, v = np.zeros(SIZE), np.zeros(SIZE)
    for step in range(1, STEPS + 1):
        g = gradient(step).astype(np.float64)
        m = BETA1 * m + (1 - BETA1) * g
        v = BETA2 * v + (1 - BETA2) * g * g
        if debias == "moments":
            ratio = m / (1 - BETA1**step) / (np.sqrt(v / (1 - BETA2**step)) + EPSILON)
        else:
            ratio = m / (np.sqrt(v) + EPSILON)
        update = ratio + DECAY * p
        correction = np.sqrt(1 - BETA2**step) / (1 - BETA1**step) if debias == "rate" else 1.0
        p = p - RATE * correction * np.linalg.norm(p) / np.linalg.norm(update) * update
    return p


print("# Written by make_optimizer.py: the sixty parameters after ten steps.")
for name, values in (("adamw", adamw()), ("lamb", lamb("moments")), ("lamb-rate", lamb("rate")),
                     ("lamb-none", lamb("none"))):
    print(name, " ".join(f"{float(x):.9g}" for x in values))
