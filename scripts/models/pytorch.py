"""The row of PyTorch in the tables of measure.mjs, which runs it: pytorch.py FOLDER PROGRAM

Loads and calls once, and then calls for as long as each line of its input says.
"""
import glob
import json
import os
import resource
import sys
import time

import numpy
import torch


def since(start):
    return 1000 * (time.perf_counter() - start)


def main(folder, name):
    count = len(glob.glob(os.path.join(folder, "calls", f"{name}-0", "input-*.npy")))
    values = [torch.from_numpy(numpy.load(os.path.join(folder, "calls", f"{name}-0", f"input-{i}.npy"))) for i in range(count)]
    torch.set_num_threads(2)
    start = time.perf_counter()
    program = torch.export.load(os.path.join(folder, "1", f"{name}.pt2"))
    module = program.module()
    load = since(start)
    args, kwargs = torch.utils._pytree.tree_unflatten(values, program.call_spec.in_spec)
    with torch.no_grad():
        start = time.perf_counter()
        module(*args, **kwargs)
        print(json.dumps({"load": load, "first": since(start)}), flush=True)
        for _ in range(2):
            module(*args, **kwargs)
        for line in sys.stdin:
            threads, milliseconds = line.split()
            torch.set_num_threads(int(threads))
            begin, least = time.perf_counter(), float("inf")
            while least == float("inf") or since(begin) < float(milliseconds):
                start = time.perf_counter()
                module(*args, **kwargs)
                least = min(least, since(start))
            print(json.dumps({"least": least, "memory": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
