"""Trains a small U-Net to find cells and their nuclei, and writes it with its labels and a picture to try: python make.py (PyTorch 2.13, Pillow)"""
import pathlib

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional

HERE = pathlib.Path(__file__).parent
LABELS = ["background", "cell", "nucleus"]


def blob(rng, ys, xs, y, x, radius):
    """Where a round thing with a wavy edge is."""
    turn = np.arctan2(ys - y, xs - x)
    edge = 1 + sum(rng.uniform(0, 0.16 / k) * np.cos(k * turn + rng.uniform(0, 6)) for k in (2, 3, 4, 5))
    return np.hypot(ys - y, xs - x) < radius * edge


def slide(rng, height, width, count):
    """A picture as of a microscope, [height, width, 3] of bytes, and the class of each pixel."""
    ys, xs = np.mgrid[:height, :width]
    tint = np.array([rng.uniform(190, 240), rng.uniform(170, 215), rng.uniform(190, 235)])
    shade = 1 + 0.15 * np.sin(xs / rng.uniform(40, 120) + rng.uniform(0, 6)) * np.sin(ys / rng.uniform(40, 120))
    picture, classes = tint * shade[..., None], np.zeros((height, width), np.uint8)
    for _ in range(count):
        radius = rng.uniform(9, 20)
        y, x = rng.uniform(0, height), rng.uniform(0, width)
        cell = blob(rng, ys, xs, y, x, radius)
        nucleus = blob(rng, ys, xs, y + rng.uniform(-3, 3), x + rng.uniform(-3, 3), radius * rng.uniform(0.35, 0.5)) & cell
        # dust is as dark as a nucleus, and has no cell around it
        picture[cell] = picture[cell] * 0.4 + 0.6 * np.array([rng.uniform(170, 215), rng.uniform(110, 165), rng.uniform(160, 205)])
        picture[nucleus] = np.array([rng.uniform(80, 125), rng.uniform(50, 95), rng.uniform(110, 160)])
        classes[cell], classes[nucleus] = 1, 2
    for _ in range(count):
        dust = blob(rng, ys, xs, rng.uniform(0, height), rng.uniform(0, width), rng.uniform(1, 3)) & (classes == 0)
        picture[dust] = rng.uniform(70, 140)
    # out of focus, and grain
    small = Image.fromarray(picture.clip(0, 255).astype(np.uint8)).resize((width // 2, height // 2), Image.BILINEAR)
    picture = np.asarray(small.resize((width, height), Image.BILINEAR)) * rng.uniform(0.9, 1.1) + rng.normal(0, rng.uniform(2, 8), (height, width, 1))
    return picture.clip(0, 255).astype(np.uint8), classes


def both(before, after):
    """Two convolutions, the first of which mixes channels, too."""
    return nn.Sequential(
        nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(),
        nn.Conv2d(after, after, 3, padding=1, groups=after, bias=False), nn.BatchNorm2d(after), nn.ReLU(),
    )  # fmt: skip


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.down3 = both(3, 10), both(10, 16), both(16, 24)
        self.up2, self.up1 = both(24 + 16, 16), both(16 + 10, 12)
        self.out = nn.Conv2d(12, len(LABELS), 1)

    def forward(self, pictures: Tensor) -> Tensor:
        """Scores [pictures, classes, height, width] of pictures of any size."""
        fine = self.down1(pictures)
        middle = self.down2(functional.max_pool2d(fine, 2))
        coarse = self.down3(functional.max_pool2d(middle, 2))
        middle = self.up2(torch.cat([functional.interpolate(coarse, size=middle.shape[2:], mode="bilinear"), middle], 1))
        return self.out(self.up1(torch.cat([functional.interpolate(middle, size=fine.shape[2:], mode="bilinear"), fine], 1)))


def to_tensor(picture):
    """From -1 to 1, as main.mjs has it."""
    return (torch.from_numpy(picture).permute(2, 0, 1) / 255 - 0.5) / 0.5


def batch(rng, count):
    made = [slide(rng, 64, 64, int(rng.integers(2, 9))) for _ in range(count)]
    return torch.stack([to_tensor(picture) for picture, _ in made]), torch.stack([torch.from_numpy(classes).long() for _, classes in made])


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    network = UNet()
    steps = 350
    optimizer = torch.optim.Adam(network.parameters(), 5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, steps)
    for _ in range(steps):
        pictures, classes = batch(rng, 12)
        loss = functional.cross_entropy(network(pictures), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.no_grad():
        pictures, classes = batch(rng, 100)
        found = network(pictures).argmax(1)
        for k, label in enumerate(LABELS):
            print(f"{label}: intersection over union {((found == k) & (classes == k)).sum() / ((found == k) | (classes == k)).sum():.3f}")
        # without freeze the file has all that interpolate and batch norms might have to do, too
        torch.jit.freeze(torch.jit.script(network))._save_for_lite_interpreter(str(HERE / "cells.ff"), _use_flatbuffer=True)
    (HERE / "labels.txt").write_text("\n".join(LABELS) + "\n")
    picture, classes = slide(np.random.default_rng(3), 150, 210, 22)
    Image.fromarray(picture).save(HERE / "cells.png")
    # what is where, to compare with
    Image.fromarray(classes * 100).save(HERE / "truth.png")


if __name__ == "__main__":
    main()
