#!/usr/bin/env python3
"""Writes full-size models with random weights for the benchmarks.

For every model NAME, under models/out (or the folder given):
  NAME.ptl         as _save_for_lite_interpreter writes it
  NAME.mobile.ptl  after optimize_for_mobile
  NAME.ff          flatbuffer
  NAME.onnx        opset 14, for onnxruntime
  NAME.npy         the input
Debian: apt-get install python3-torch python3-torchvision
"""
import pathlib
import sys
import warnings

import numpy as np
import torch
from torch import nn
from torch.utils.mobile_optimizer import optimize_for_mobile


class EncoderLayer(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, length, width = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * (width // self.heads) ** -0.5, -1)
        mixed = torch.matmul(weights, v).transpose(1, 2).reshape(n, length, width)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))


class Encoder(nn.Module):
    """BERT-style: token and position embeddings, 6 layers, tanh pooler on the first token."""

    def __init__(self, vocabulary: int = 16384, width: int = 512, heads: int = 8, layers: int = 6, length: int = 64):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(1, length, width) * 0.02)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList([EncoderLayer(width, heads) for _ in range(layers)])
        self.pooler = nn.Linear(width, width)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.tokens(ids) + self.positions)
        for layer in self.layers:
            x = layer(x)
        return torch.tanh(self.pooler(x[:, 0]))


class Tagger(nn.Module):
    def __init__(self, vocabulary: int = 10000, width: int = 128, hidden: int = 256, tags: int = 32):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(2 * hidden, tags)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x, _ = self.lstm(self.embed(ids))
        return torch.log_softmax(self.tag(x), -1)


def mlp() -> nn.Module:
    layers = []
    for _ in range(32):
        layers += [nn.Linear(16, 16), nn.ReLU()]
    return nn.Sequential(*layers)


def models():
    import torchvision

    image = torch.randn(1, 3, 224, 224)
    yield "mobilenet_v2", torchvision.models.mobilenet_v2(weights=None), image
    yield "resnet18", torchvision.models.resnet18(weights=None), image
    yield "encoder", Encoder(), torch.randint(0, 16384, (1, 64))
    yield "lstm", Tagger(), torch.randint(0, 10000, (1, 32))
    yield "mlp", mlp(), torch.randn(1, 16)


def main() -> None:
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "out")
    out.mkdir(parents=True, exist_ok=True)
    for name, model, example in models():
        model.eval()
        scripted = torch.jit.script(model)
        scripted._save_for_lite_interpreter(str(out / f"{name}.ptl"))
        scripted._save_for_lite_interpreter(str(out / f"{name}.ff"), _use_flatbuffer=True)
        optimize_for_mobile(scripted)._save_for_lite_interpreter(str(out / f"{name}.mobile.ptl"))
        torch.onnx.export(model, (example,), str(out / f"{name}.onnx"), opset_version=14, input_names=["input"], output_names=["output"])
        np.save(out / f"{name}.npy", example.numpy())
        sizes = ", ".join(f"{kind} {(out / f'{name}.{kind}').stat().st_size / 1e6:.1f} MB" for kind in ("ptl", "mobile.ptl", "ff", "onnx"))
        print(f"{name}: {sizes}", flush=True)


if __name__ == "__main__":
    main()
