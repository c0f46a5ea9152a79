"""Loads a TorchScript archive, or streams chunks through it, each time a line is read: prints milliseconds and results as JSON.

    python3 torchscript_peer.py load|stream MODEL CHUNKS SIZE RATE
"""
import json
import sys
import time

import torch

torch.set_num_threads(1)
what, path, chunks, size, rate = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])


def chunk(i):
    n = torch.arange(size, dtype=torch.float64) + i * size
    return (torch.sin(n * 0.05) * torch.sin(n * 0.0007) * 0.4).to(torch.float32).reshape(1, size)


inputs = [chunk(i) for i in range(chunks)]
model = torch.jit.load(path).eval() if what == 'stream' else None
for _ in sys.stdin:
    results = []
    start = time.perf_counter()
    if model is None:
        torch.jit.load(path)
    else:
        model.reset_states()
        with torch.no_grad():
            results = [model(x, rate).item() for x in inputs]
    print(json.dumps({'ms': (time.perf_counter() - start) * 1000, 'results': results}), flush=True)
