#!/usr/bin/env python3
"""Writes full-size networks with random weights for the benchmarks.

  export.py                          prints the names
  export.py FOLDER NAME [--no-onnx]  writes into the folder:

  NAME.traced.ptl  traced, as most published models are, and written by _save_for_lite_interpreter
  NAME.ptl         the same of the scripted network
  NAME.mobile.ptl  scripted, after optimize_for_mobile
  NAME.ff          scripted, a flatbuffer
  NAME.onnx        opset 14 (13 for quantized networks, as QuantizeLinear and DequantizeLinear pairs), for onnxruntime
  NAME.npy         the input

Debian: apt-get install python3-torch python3-torchvision
"""
import pathlib
import sys
import warnings

import numpy as np
import torch
from torch.utils.mobile_optimizer import optimize_for_mobile

from networks import OTHERS, VISION, make


def main() -> None:
    if len(sys.argv) < 3:
        print("\n".join(VISION + OTHERS))
        return
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    out, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    out.mkdir(parents=True, exist_ok=True)
    model, example = make(name)
    quantized = name.endswith("_quantized")
    with torch.no_grad():
        torch.jit.trace(model, example)._save_for_lite_interpreter(str(out / f"{name}.traced.ptl"))
    scripted = torch.jit.script(model)
    scripted._save_for_lite_interpreter(str(out / f"{name}.ptl"))
    scripted._save_for_lite_interpreter(str(out / f"{name}.ff"), _use_flatbuffer=True)
    optimize_for_mobile(scripted)._save_for_lite_interpreter(str(out / f"{name}.mobile.ptl"))
    if "--no-onnx" not in sys.argv:
        opset = 13 if quantized else 14
        torch.onnx.export(model, (example,), str(out / f"{name}.onnx"), opset_version=opset, input_names=["input"], output_names=["output"])
    np.save(out / f"{name}.npy", example.numpy())


if __name__ == "__main__":
    main()
