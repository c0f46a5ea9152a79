#!/usr/bin/env python3
"""Writes the networks that the server is measured with: export.py FOLDER. Debian: apt-get install python3-torch python3-torchvision"""
import json
import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "models"))
from networks import Encoder, make  # noqa: E402

# tokens of what is typed into a search field: a question, and two words
SHORT = {"encoder_short": 12, "encoder_words": 4}


def write(folder: pathlib.Path, name: str, model: torch.nn.Module, example: torch.Tensor) -> None:
    torch.jit.script(model)._save_for_lite_interpreter(str(folder / f"{name}.ptl"))
    torch.onnx.export(model, (example,), str(folder / f"{name}.onnx"), opset_version=14, input_names=["input"], output_names=["output"])
    values = example.flatten().tolist()
    datatype = "INT64" if example.dtype == torch.int64 else "FP32"
    (folder / f"{name}.json").write_text(json.dumps({"datatype": datatype, "shape": list(example.shape), "data": values}))


def main() -> None:
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("mlp", "mobilenet_v2", "encoder"):
        write(folder, name, *make(name))
    for name, length in SHORT.items():
        write(folder, name, Encoder(length=length).eval(), torch.randint(0, 16384, (1, length)))


if __name__ == "__main__":
    main()
