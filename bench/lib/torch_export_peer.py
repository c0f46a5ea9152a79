"""torch.export.load, driven over stdin and stdout: one JSON request and one JSON answer per line.

  {"load": FILE.pt2}  ->  {"load": ms, "module": ms}
"""
import json
import pathlib
import sys
import time
import warnings

import torch

warnings.filterwarnings("ignore")
import torch.ao.quantization.fx._decomposed  # noqa: E402, F401  quantized_decomposed.*

sys.path.append(str(pathlib.Path(__file__).parent.parent.parent / "scripts" / "sweep"))
import exporting  # noqa: E402, F401  declares the operators of torchvision


def main() -> None:
    torch.set_num_threads(1)
    print(json.dumps({"version": torch.__version__}), flush=True)
    for line in sys.stdin:
        path = json.loads(line)["load"]
        start = time.perf_counter()
        program = torch.export.load(path)
        middle = time.perf_counter()
        program.module()
        end = time.perf_counter()
        print(json.dumps({"load": 1e3 * (middle - start), "module": 1e3 * (end - middle)}), flush=True)


if __name__ == "__main__":
    main()
