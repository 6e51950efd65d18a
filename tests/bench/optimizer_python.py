"""PyTorch's own AdamW on one thread of this CPU, fp32, for comparison with bench_numerics.

    optimizer_python.py [million parameters, default 64]
"""
import sys
import time

import torch

torch.set_num_threads(1)
million = int(sys.argv[1]) if len(sys.argv) > 1 else 64
count = million << 20
for fused in (True, False):
    parameters = torch.randn(count) * 0.02
    parameters.grad = torch.randn(count) * 0.01
    optimizer = torch.optim.AdamW([parameters], lr=1e-3, weight_decay=0.1, fused=fused, foreach=False)
    optimizer.step()
    best = float("inf")
    for _ in range(7):
        start = time.process_time()
        optimizer.step()
        best = min(best, time.process_time() - start)
    name = "fused" if fused else "plain"
    print(f"torch {torch.__version__} fp32 AdamW {name:30} {count / best * 1e-6:10.4g} M param/s/core", flush=True)
