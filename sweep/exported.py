"""Networks as torch.export writes them, for run.mjs: SWEEP_VARIANT=exported has exporting.py call this.

For every network NAME: NAME.pt2 as exported, NAME.core.pt2 after run_decompositions(), NAME.json and NAME.bin.
"""
import os

import torch
from torch import nn
from torch.export import Dim


def _dynamic(flat, calls):
    """The program for any number of rows where PyTorch can make that, else for the sizes of the first call."""
    inputs = calls[0]
    rows = {value.shape[0] for value in inputs if value.dim() > 0}
    if len(rows) == 1 and rows != {0}:
        wide = tuple(torch.cat([a, b]) for a, b in zip(*calls[:2])) if rows == {1} else inputs
        try:
            shapes = tuple({0: Dim.AUTO} for _ in wide)
            return torch.export.export(flat, wide, dynamic_shapes={"values": shapes}), True
        except (Exception, RecursionError):
            pass
    return torch.export.export(flat, inputs), False


def _more_sizes(program, calls):
    """More calls of other numbers of rows, up to five sizes in all, where the program takes them."""
    more = []
    for count in (2, 3, 5, 7):
        pick = [tuple(torch.cat([values[i % len(values)] for i in range(count)]) for values in zip(*calls[:2]))]
        try:
            program(*pick[0])
            more.extend(pick)
        except Exception:  # guards differ
            pass
    return more


def _disturbed(network, inputs, tensors_of):
    """Outputs of the network where floating inputs and parameters are off by up to half a unit in the last place."""
    generator = torch.Generator().manual_seed(5)

    def off(value):
        return value * (1 + 6e-8 * (2 * torch.rand(value.shape, generator=generator) - 1)).to(value.dtype)

    tensors = [t for t in [*network.parameters(), *network.buffers()] if t.dtype == torch.float32]
    before = [t.detach().clone() for t in tensors]
    try:
        for tensor in tensors:
            tensor.data.copy_(off(tensor.data))
        return tensors_of(network(*[off(v) if v.is_floating_point() else v for v in inputs]))
    finally:
        for tensor, value in zip(tensors, before):
            tensor.data.copy_(value)


def write(stem, flat: nn.Module, calls, tensors_of, not_exportable):
    """Writes both programs of a network; gives the calls with PyTorch's results, and how far rounding moves those."""
    with torch.no_grad():
        program, is_dynamic = _dynamic(flat, calls)
        module = program.module()
        calls = [*calls, *(_more_sizes(module, calls) if is_dynamic else [])]
        kept, results, noise = [], [], []
        for inputs in calls:
            try:
                found = tensors_of(module(*inputs))
            except Exception:  # a guard of the first call
                if not kept:
                    raise
                continue
            again = tensors_of(module(*inputs))
            if any(not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(found, again)):
                raise not_exportable("gives another result each time")
            kept.append(inputs)
            results.append(found)
            try:
                moved = _disturbed(flat, inputs, tensors_of)
            except Exception:
                moved = found
            noise.append((found, moved))
        if len(kept) < 2:
            kept, results, noise = kept * 2, results * 2, noise * 2
        torch.export.save(program, f"{stem}.pt2")
        try:
            core = program.run_decompositions()
            torch.export.save(core, f"{stem}.core.pt2")
        except Exception as error:
            if os.path.exists(f"{stem}.core.pt2"):
                os.remove(f"{stem}.core.pt2")
            print("not decomposable", os.path.basename(stem), str(error).strip().split("\n")[0][:160], flush=True)
    return kept, results, noise
