"""PyTorch in eager mode, driven as torch_peer.py is, with a name of models/transformer_layers.py in place of a model's path."""
import base64
import json
import pathlib
import sys
import time

import torch

sys.path.append(str(pathlib.Path(__file__).parent.parent / "models"))
from transformer_layers import make  # noqa: E402


def main() -> None:
    print(json.dumps({"version": torch.__version__}), flush=True)
    layer, argument = None, None
    with torch.inference_mode():
        for line in sys.stdin:
            request = json.loads(line)
            if "load" in request:
                torch.set_num_threads(request["threads"])
                layer, argument = make(request["load"])
                output = layer(argument).contiguous().numpy()
                answer = {"output": base64.b64encode(output.tobytes()).decode()}
            else:
                times = []
                for _ in range(request["runs"]):
                    start = time.perf_counter_ns()
                    layer(argument)
                    times.append((time.perf_counter_ns() - start) / 1e6)
                answer = {"ms": times}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
