"""PyTorch's lite interpreter for the operator sweep, driven over stdin and stdout: one JSON request and one JSON answer per line.

  {"operator": name, "elements": n, "file": path}  ->  {}                writes the module and loads it here
  {"times": t, "runs": r}                          ->  {"ms": [r times]}  of forward(t), which runs the operator t + 1 times

Debian: apt-get install python3-torch
"""
import json
import sys
import time
import warnings

import torch
from torch.jit.mobile import _load_for_lite_interpreter

from rows import ROWS


class Holder(torch.nn.Module):
    """A module whose attributes are the tensors and packed weights of a row."""

    def __init__(self, attributes):
        super().__init__()
        for name, value in attributes.items():
            setattr(self, name, value)


def source(row, names) -> str:
    lines = ["def forward(self, n: int):", *(f"  {name} = self.{name}" for name in names), f"  y = {row.call}"]
    return "\n".join([*lines, "  for i in range(n):", f"    y = {row.call}", f"  return {row.use}\n"])


def export(row, elements: int, path: str) -> None:
    torch.manual_seed(0)
    attributes = row.tensors(elements)
    # a class of its own, since modules of one class share their methods
    module = torch.jit.script(type("Row", (Holder,), {})(attributes))
    module.define(source(row, attributes))
    module._save_for_lite_interpreter(path)


def main() -> None:
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.backends.quantized.engine = "qnnpack"
    rows = {row.name: row for row in ROWS}
    print(json.dumps({"version": torch.__version__, "operators": list(rows)}), flush=True)
    module = None
    with torch.no_grad():
        for line in sys.stdin:
            request = json.loads(line)
            answer = {}
            if "operator" in request:
                export(rows[request["operator"]], request["elements"], request["file"])
                module = _load_for_lite_interpreter(request["file"])
            else:
                answer["ms"] = []
                for _ in range(request["runs"]):
                    start = time.perf_counter_ns()
                    module(request["times"])
                    answer["ms"].append((time.perf_counter_ns() - start) / 1e6)
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
