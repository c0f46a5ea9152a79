#!/usr/bin/env python3
"""Writes one full-size network with random weights, for comparing results with PyTorch's.

  networks.py                  prints the names
  networks.py NAME FOLDER      writes NAME.ptl, NAME.mobile.ptl, NAME.ff and NAME.npy, the input

Debian: apt-get install python3-torch python3-torchvision
"""
import pathlib
import sys
import warnings

import numpy as np
import torch
from torch import nn
from torch.utils.mobile_optimizer import optimize_for_mobile

from export import Encoder, Tagger

IMAGE = (1, 3, 224, 224)
VISION = (
    "mobilenet_v2",
    "mobilenet_v3_small",
    "resnet18",
    "resnet50",
    "squeezenet1_1",
    "shufflenet_v2_x1_0",
    "efficientnet_b0",
    "vit_b_16",
)
TEXT = ("encoder", "tagger")


def make(name: str) -> tuple[nn.Module, torch.Tensor]:
    if name == "encoder":
        return Encoder(), torch.randint(0, 16384, (1, 64))
    if name == "tagger":
        return Tagger(), torch.randint(0, 10000, (1, 32))
    import torchvision

    return getattr(torchvision.models, name)(weights=None), torch.randn(*IMAGE)


def settle(model: nn.Module) -> nn.Module:
    """Batch norms get the statistics of random images; what starts as zero gets other values."""
    for parameter in model.parameters():
        if parameter.dim() == 1 or parameter.abs().max() == 0:
            parameter.data.add_(0.05 * torch.randn_like(parameter))
    if any(isinstance(module, nn.BatchNorm2d) for module in model.modules()):
        model.train()
        with torch.no_grad():
            for _ in range(10):
                model(torch.randn(4, *IMAGE[1:]))
    return model.eval()


def main() -> None:
    if len(sys.argv) != 3:
        print("\n".join(VISION + TEXT))
        return
    warnings.filterwarnings("ignore")
    name, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model, example = make(name)
    scripted = torch.jit.script(settle(model))
    scripted._save_for_lite_interpreter(str(out / f"{name}.ptl"))
    scripted._save_for_lite_interpreter(str(out / f"{name}.ff"), _use_flatbuffer=True)
    optimize_for_mobile(scripted)._save_for_lite_interpreter(str(out / f"{name}.mobile.ptl"))
    np.save(out / f"{name}.npy", example.numpy())


if __name__ == "__main__":
    main()
