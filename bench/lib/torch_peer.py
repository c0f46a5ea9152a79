"""PyTorch's lite interpreter, driven over stdin and stdout: one JSON request and one JSON answer per line.

  {"load": model, "input": file.npy, "threads": n}  ->  {"output": base64 of float32}
  {"runs": n}                                       ->  {"ms": [n times]}
"""
import base64
import json
import sys
import time

import numpy as np
import torch
from torch.jit.mobile import _load_for_lite_interpreter


def main() -> None:
    if "qnnpack" in torch.backends.quantized.supported_engines:
        torch.backends.quantized.engine = "qnnpack"
    print(json.dumps({"version": torch.__version__}), flush=True)
    module, argument = None, None
    with torch.no_grad():
        for line in sys.stdin:
            request = json.loads(line)
            if "load" in request:
                torch.set_num_threads(request["threads"])
                module = _load_for_lite_interpreter(request["load"])
                argument = torch.from_numpy(np.load(request["input"]))
                output = module(argument).contiguous().numpy().astype(np.float32)
                answer = {"output": base64.b64encode(output.tobytes()).decode()}
            else:
                times = []
                for _ in range(request["runs"]):
                    start = time.perf_counter_ns()
                    module(argument)
                    times.append((time.perf_counter_ns() - start) / 1e6)
                answer = {"ms": times}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
