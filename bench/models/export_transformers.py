#!/usr/bin/env python3
"""Writes transformer layers with random weights for bench/transformers.mjs, with PyTorch 2.

  export_transformers.py              prints the names
  export_transformers.py FOLDER NAME  writes into the folder:

  NAME.ptl         traced, as _save_for_lite_interpreter writes it, with scaled_dot_product_attention
  NAME.matmul.ptl  with attention written out
  NAME.onnx        opset 17, attention decomposed by the exporter
  NAME.npy         the input
"""
import pathlib
import sys
import warnings

import numpy as np
import torch

from transformer_layers import NAMES, make


def main() -> None:
    if len(sys.argv) < 3:
        print("\n".join(NAMES))
        return
    warnings.filterwarnings("ignore")
    out, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    out.mkdir(parents=True, exist_ok=True)
    for attention, kind in (("sdpa", "ptl"), ("matmul", "matmul.ptl")):
        layer, example = make(name, attention)
        with torch.no_grad():
            torch.jit.trace(layer, example)._save_for_lite_interpreter(str(out / f"{name}.{kind}"))
    layer, example = make(name)
    names = {"input_names": ["input"], "output_names": ["output"]}
    torch.onnx.export(layer, (example,), str(out / f"{name}.onnx"), opset_version=17, dynamo=False, **names)
    np.save(out / f"{name}.npy", example.numpy())


if __name__ == "__main__":
    main()
