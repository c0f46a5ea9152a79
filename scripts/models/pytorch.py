"""The row of PyTorch in the tables of measure.mjs, which runs it: pytorch.py FOLDER [PROGRAM]

Loads and calls once, and then calls for as long as each line of its input says. Without a program, for what generates: 32 tokens behind the prompt for each line.
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


def kept(folder, name):
    """What the script called a program with first."""
    count = len(glob.glob(os.path.join(folder, "calls", f"{name}-0", "input-*.npy")))
    return [torch.from_numpy(numpy.load(os.path.join(folder, "calls", f"{name}-0", f"input-{i}.npy"))) for i in range(count)]


def loaded(folder, name):
    """A program as a function of tensors in their order, and the smallest limit that its sizes have."""
    program = torch.export.load(os.path.join(folder, "1", f"{name}.pt2"))
    module = program.module()

    def call(*values):
        args, kwargs = torch.utils._pytree.tree_unflatten(values, program.call_spec.in_spec)
        return module(*args, **kwargs)

    limits = [int(str(limit.upper)) for limit in program.range_constraints.values() if str(limit.upper).isdigit()]
    return call, min(limits, default=1 << 30)


def peak():
    """The most memory that this process had, in MB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6)


def calls(folder, name):
    values = kept(folder, name)
    start = time.perf_counter()
    call, _ = loaded(folder, name)
    load = since(start)
    start = time.perf_counter()
    call(*values)
    print(json.dumps({"load": load, "first": since(start)}), flush=True)
    for _ in range(2):
        call(*values)
    for line in sys.stdin:
        threads, milliseconds = line.split()
        torch.set_num_threads(int(threads))
        begin, least = time.perf_counter(), float("inf")
        while least == float("inf") or since(begin) < float(milliseconds):
            start = time.perf_counter()
            call(*values)
            least = min(least, since(start))
        print(json.dumps({"least": least, "memory": peak()}), flush=True)


def generations(folder):
    with open(os.path.join(folder, "tokens.json")) as file:
        prompt = json.load(file)[0]["prompt"]
    start = time.perf_counter()
    has_encoder = os.path.exists(os.path.join(folder, "1", "encoder.pt2"))
    encode = loaded(folder, "encoder")[0] if has_encoder else None
    decode, most = loaded(folder, "decoder" if has_encoder else "model")
    load = since(start)
    features = kept(folder, "encoder")

    def generated(count):
        """Milliseconds until each token."""
        start, times, place, tokens = time.perf_counter(), [], 0, prompt
        cross = [value for name, value in encode(*features).items() if name.startswith("cross")] if has_encoder else []
        for _ in range(count):
            # a prompt goes through in parts that the program takes
            for part in (tokens[i : i + most] for i in range(0, len(tokens), most)):
                found = decode(torch.tensor([part]), torch.arange(place, place + len(part)), *cross)
                place += len(part)
            tokens = [(found["logits"] if isinstance(found, dict) else found)[0, -1].argmax().item()]
            times.append(since(start))
        return times

    print(json.dumps({"load": load, "first": generated(8)[-1]}), flush=True)
    for _ in sys.stdin:
        times = generated(33)
        print(json.dumps({"prompt": times[0], "step": sorted(b - a for a, b in zip(times, times[1:]))[16], "memory": peak()}), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(2)
    with torch.no_grad():
        (calls if len(sys.argv) > 2 else generations)(*sys.argv[1:])
