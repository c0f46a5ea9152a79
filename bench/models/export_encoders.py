#!/usr/bin/env python3
"""Writes encoders with random weights for bench/encoders.mjs, with PyTorch 2, timm, transformers, onnx and onnxruntime.

  export_encoders.py              prints the names
  export_encoders.py FOLDER NAME  writes into the folder:

  NAME.ptl           traced, in float32
  NAME.bfloat16.ptl  the same in bfloat16
  NAME.onnx          opset 17
  NAME.int8.onnx     what quantize_dynamic of onnxruntime makes of it: int8 weights per channel, activations as uint8 of one scale
  NAME.npy           the input
"""
import pathlib
import sys
import warnings

import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

from networks import Encoder
from transformer_layers import make

NAMES = ("encoder", "bert_layer_128", "vit_tiny", "whisper_tiny")


class Whisper(nn.Module):
    """The encoder of Whisper tiny, over 30 seconds of sound."""

    def __init__(self):
        super().__init__()
        from transformers import WhisperConfig, WhisperModel

        sizes = {"d_model": 384, "encoder_layers": 4, "encoder_attention_heads": 6, "encoder_ffn_dim": 1536}
        self.encoder = WhisperModel(WhisperConfig(**sizes, decoder_layers=1, attn_implementation="sdpa")).encoder

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        return self.encoder(mel).last_hidden_state


def network(name: str) -> tuple[nn.Module, torch.Tensor]:
    if name == "encoder":
        return Encoder().eval(), torch.randint(0, 16384, (1, 128))
    if name == "vit_tiny":
        import timm

        return timm.create_model("vit_tiny_patch16_224", pretrained=False).eval(), torch.randn(1, 3, 224, 224)
    if name == "whisper_tiny":
        return Whisper().eval(), torch.randn(1, 80, 3000)
    return make(name)


def main() -> None:
    if len(sys.argv) < 3:
        print("\n".join(NAMES))
        return
    warnings.filterwarnings("ignore")
    # timm and transformers name operators of torchvision, whose own library need not fit this PyTorch
    torchvision = torch.library.Library("torchvision", "FRAGMENT")
    for operator in ("nms", "qnms"):
        torchvision.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    torch.manual_seed(0)
    out, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    out.mkdir(parents=True, exist_ok=True)
    model, example = network(name)
    names = {"input_names": ["input"], "output_names": ["output"]}
    with torch.no_grad():
        torch.onnx.export(model, (example,), str(out / f"{name}.onnx"), opset_version=17, dynamo=False, **names)
        torch.jit.trace(model, example)._save_for_lite_interpreter(str(out / f"{name}.ptl"))
        half = example.to(torch.bfloat16) if example.is_floating_point() else example
        torch.jit.trace(model.to(torch.bfloat16), half)._save_for_lite_interpreter(str(out / f"{name}.bfloat16.ptl"))
    quantize_dynamic(str(out / f"{name}.onnx"), str(out / f"{name}.int8.onnx"), per_channel=True, weight_type=QuantType.QInt8)
    np.save(out / f"{name}.npy", example.numpy())


if __name__ == "__main__":
    main()
