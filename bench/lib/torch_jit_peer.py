"""PyTorch's TorchScript interpreter, driven over stdin and stdout: one JSON request and one JSON answer per line. A file runs as it is
and, once more, after `torch.jit.freeze` and `optimize_for_inference`.

  {"load": NAME.ptl, "threads": n}      ->  {"forms": those that run}, with the first inputs that NAME.json describes
  {"runs": n, "form": "plain|frozen"}   ->  {"ms": [n times], "cpu": [processor times of the whole process]}
"""
import json
import pathlib
import sys
import time
import warnings

import numpy as np
import torch

warnings.filterwarnings("ignore")
sys.path.append(str(pathlib.Path(__file__).parent.parent.parent / "scripts" / "sweep"))
import exporting  # noqa: E402, F401  declares the operators of torchvision

WARM = 3


def first_inputs(path: pathlib.Path) -> list[torch.Tensor]:
    call = json.loads(path.with_suffix(".json").read_text())["calls"][0]
    data = path.with_suffix(".bin").read_bytes()

    def tensor(described: dict) -> torch.Tensor:
        count = int(np.prod(described["shape"], dtype=int))
        return torch.frombuffer(bytearray(data), dtype=getattr(torch, described["dtype"]), count=count, offset=described["offset"]).reshape(
            described["shape"]
        )

    return [tensor(described) for described in call["inputs"]]


def forms_of(path: pathlib.Path, inputs: list[torch.Tensor]) -> dict[str, torch.jit.ScriptModule]:
    plain = torch.jit.load(str(path)).eval()
    forms = {"plain": plain}
    try:
        forms["frozen"] = torch.jit.optimize_for_inference(torch.jit.freeze(plain))
        for _ in range(WARM):
            forms["frozen"](*inputs)
    except RuntimeError as error:
        print(f"{path.stem} cannot be frozen: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
        forms.pop("frozen", None)
    for _ in range(WARM):
        plain(*inputs)
    return forms


def main() -> None:
    print(json.dumps({"version": torch.__version__}), flush=True)
    forms, inputs = {}, []
    with torch.inference_mode():
        for line in sys.stdin:
            request = json.loads(line)
            if "load" in request:
                torch.set_num_threads(request["threads"])
                path = pathlib.Path(request["load"])
                inputs = first_inputs(path)
                forms.clear()
                forms = forms_of(path, inputs)
                answer = {"forms": list(forms)}
            else:
                answer = {"ms": [], "cpu": []}
                form = forms[request["form"]]
                for _ in range(request["runs"]):
                    start, cpu = time.perf_counter_ns(), time.process_time_ns()
                    form(*inputs)
                    answer["cpu"].append((time.process_time_ns() - cpu) / 1e6)
                    answer["ms"].append((time.perf_counter_ns() - start) / 1e6)
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
