"""PyTorch's lite interpreter on the calls of a model folder, driven over stdin and stdout: one JSON request and one JSON answer per line.

  {"load": folder}  ->  {} or {"error": text}
  {"times": n}      ->  {"ms": processor time of n rounds of all calls}
"""
import json
import pathlib
import sys
import time

import numpy as np
import torch
from torch.jit.mobile import _load_for_lite_interpreter

PLAIN = ("int", "bool", "str")


def value_of(described: dict, folder: pathlib.Path) -> object:
    if "tensor" in described:
        array = np.fromfile(folder / described["tensor"], dtype=described["dtype"]).reshape(described["shape"])
        return torch.from_numpy(array)
    if "none" in described:
        return None
    if "float" in described:
        return float(described["float"])
    if "list" in described:
        return [value_of(item, folder) for item in described["list"]]
    if "tuple" in described:
        return tuple(value_of(item, folder) for item in described["tuple"])
    if "dict" in described:
        return {value_of(key, folder): value_of(item, folder) for key, item in described["dict"]}
    return next(described[kind] for kind in PLAIN if kind in described)


def load(folder: pathlib.Path) -> list:
    meta = json.loads((folder / "meta.json").read_text())
    module = _load_for_lite_interpreter(str(folder / meta["file"]))
    calls = [(call["method"], [value_of(value, folder) for value in call["inputs"]]) for call in meta["cases"]]
    for method, arguments in calls:
        module.run_method(method, *arguments)
    return [(lambda m=method, a=arguments: module.run_method(m, *a)) for method, arguments in calls]


def main() -> None:
    torch.set_num_threads(1)
    torch.backends.quantized.engine = "qnnpack"
    print(json.dumps({"version": torch.__version__}), flush=True)
    calls = []
    with torch.no_grad():
        for line in sys.stdin:
            request = json.loads(line)
            if "load" in request:
                try:
                    calls = load(pathlib.Path(request["load"]))
                    answer = {}
                except Exception as error:  # what the lite interpreter cannot load is left out
                    answer = {"error": str(error).splitlines()[0]}
            else:
                start = time.process_time_ns()
                for _ in range(request["times"]):
                    for call in calls:
                        call()
                answer = {"ms": (time.process_time_ns() - start) / 1e6}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
