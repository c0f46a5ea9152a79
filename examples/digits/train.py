#!/usr/bin/env python3
"""Trains the demo's network and writes the files beside this script.

Data: the 1,797 handwritten digits of 8x8 pixels (0..16) in scikit-learn (UCI "Optical Recognition of
Handwritten Digits"). Every fifth image is held out. Debian: apt-get install python3-torch python3-sklearn

  digits.ptl, digits.mobile.ptl (after optimize_for_mobile), digits.ff   the same network, (N, 1, 8, 8) uint8 -> (N, 10) probabilities
  images.npy      the held-out images, (N, 8, 8) uint8
  image.npy       the first of them that is a 3, as the network takes it, (1, 1, 8, 8) uint8
  expected.json   their labels, and what PyTorch's lite interpreter makes of each file
"""
import json
import pathlib

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.jit.mobile import _load_for_lite_interpreter
from torch.utils.mobile_optimizer import optimize_for_mobile

HERE = pathlib.Path(__file__).parent
EPOCHS = 60


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1, bias=False), nn.BatchNorm2d(48), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.classify = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(48 * 4, 10))

    def logits(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.classify(self.features(pixels.to(torch.float32) / 16.0))

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.logits(pixels), 1)


def shifted(images: torch.Tensor) -> torch.Tensor:
    """Moves every image by up to one pixel each way."""
    padded = nn.functional.pad(images, (1, 1, 1, 1))
    out = torch.empty_like(images)
    for i, (y, x) in enumerate(torch.randint(0, 3, (len(images), 2)).tolist()):
        out[i] = padded[i, :, y : y + 8, x : x + 8]
    return out


def train(images: torch.Tensor, labels: torch.Tensor) -> Digits:
    model = Digits()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model.logits(shifted(images[batch])), labels[batch]).backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def main() -> None:
    torch.manual_seed(7)
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    data = load_digits()
    pixels = torch.from_numpy(data.images.astype(np.uint8)).unsqueeze(1)
    labels = torch.from_numpy(data.target)
    held_out = torch.arange(len(pixels)) % 5 == 0
    model = train(pixels[~held_out], labels[~held_out])

    scripted = torch.jit.script(model)
    scripted._save_for_lite_interpreter(str(HERE / "digits.ptl"))
    scripted._save_for_lite_interpreter(str(HERE / "digits.ff"), _use_flatbuffer=True)
    optimize_for_mobile(scripted)._save_for_lite_interpreter(str(HERE / "digits.mobile.ptl"))

    images, truth = pixels[held_out], labels[held_out]
    np.save(HERE / "images.npy", images.squeeze(1).numpy())
    np.save(HERE / "image.npy", images[truth == 3][:1].numpy())
    expected = {"labels": truth.tolist(), "files": {}}
    for name in ("digits.ptl", "digits.mobile.ptl", "digits.ff"):
        with torch.no_grad():
            probabilities = _load_for_lite_interpreter(str(HERE / name))(images)
        confidence, predictions = probabilities.max(1)
        expected["files"][name] = {
            "accuracy": round((predictions == truth).double().mean().item(), 4),
            "predictions": predictions.tolist(),
            "confidence": [round(c, 6) for c in confidence.tolist()],
        }
        print(f"{name}: {expected['files'][name]['accuracy']:.2%} of {len(truth)} held-out images, {(HERE / name).stat().st_size} bytes")
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
