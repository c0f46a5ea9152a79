"""Trains a small network to tell drawn shapes apart, and writes it with its labels and a picture to try: python make.py (PyTorch 2.13, Pillow)"""
import math
import pathlib
import random

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFilter
from torch import nn

HERE = pathlib.Path(__file__).parent
LABELS = ["circle", "cross", "square", "triangle"]


def polygon(kind, x, y, r, turn):
    corners = 4 if kind == "square" else 3
    return [(x + r * math.cos(turn + 2 * math.pi * i / corners), y + r * math.sin(turn + 2 * math.pi * i / corners)) for i in range(corners)]


def draw(kind, rng, width=64, height=64):
    """A shape of any colour, size and angle on a background of another colour."""
    back = tuple(rng.randrange(256) for _ in range(3))
    front = tuple((c + rng.randrange(90, 166)) % 256 for c in back)
    image = Image.new("RGB", (width, height), back)
    pen = ImageDraw.Draw(image)
    r = rng.uniform(0.22, 0.36) * min(width, height)
    x, y = (rng.uniform(r + 2, size - r - 2) for size in (width, height))
    turn = rng.uniform(0, 2 * math.pi)
    if kind == "circle":
        pen.ellipse((x - r, y - r, x + r, y + r), fill=front)
    elif kind == "cross":
        for angle in (turn, turn + math.pi / 2):
            dx, dy = r * math.cos(angle), r * math.sin(angle)
            pen.line((x - dx, y - dy, x + dx, y + dy), fill=front, width=max(3, int(r / 2.5)))
    else:
        pen.polygon(polygon(kind, x, y, r, turn), fill=front)
    return image.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1)))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [3, 8, 12, 16]
        layers = []
        for before, after in zip(widths, widths[1:]):
            layers += [nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]
        self.layers = nn.Sequential(*layers, nn.Conv2d(16, 16, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(16, 4))

    def forward(self, pictures):
        return self.layers(pictures)


def to_tensor(image):
    """From -1 to 1, as main.mjs has it."""
    return (torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255 - 0.5) / 0.5


def batch(count, rng):
    kinds = [rng.randrange(4) for _ in range(count)]
    return torch.stack([to_tensor(draw(LABELS[k], rng).resize((32, 32), Image.BILINEAR)) for k in kinds]), torch.tensor(kinds)


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), 4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, 500)
    for _ in range(500):
        pictures, kinds = batch(64, rng)
        loss = nn.functional.cross_entropy(network(pictures), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.no_grad():
        pictures, kinds = batch(2000, rng)
        print(f"right: {(network(pictures).argmax(1) == kinds).float().mean():.3f}")
        program = torch.export.export(network, (pictures[:1].clone(),))
        for node in program.graph.nodes:
            node.meta.pop("stack_trace", None)  # paths of this machine
        torch.export.save(program, HERE / "shapes.pt2")
    (HERE / "labels.txt").write_text("\n".join(LABELS) + "\n")
    draw("triangle", random.Random(5), 200, 150).save(HERE / "triangle.jpg", quality=90)


if __name__ == "__main__":
    main()
