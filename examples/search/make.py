"""Trains a small network that puts pictures of the same thing near each other, and writes it with a folder of pictures to search: python make.py (PyTorch 2.13, Pillow)"""
import colorsys
import math
import pathlib
import random
import shutil

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import nn
from torch.nn import functional

HERE = pathlib.Path(__file__).parent
SHAPES = ["ring", "star", "square", "stripes", "dots"]
HUES = ["red", "yellow", "green", "blue", "violet"]
ALL = [(shape, hue) for shape in SHAPES for hue in HUES]


def picture(shape, hue, rng, size=48):
    """A shape of about this hue on a bright or dark ground."""

    def colour(h, s, v):
        return tuple(int(255 * c) for c in colorsys.hsv_to_rgb(h % 1, s, v))

    ground = colour(rng.random(), rng.uniform(0, 0.15), rng.choice([rng.uniform(0.05, 0.25), rng.uniform(0.8, 1)]))
    ink = colour(HUES.index(hue) / len(HUES) + rng.uniform(-0.035, 0.035), rng.uniform(0.75, 1), rng.uniform(0.65, 0.95))
    image = Image.new("RGB", (2 * size, 2 * size), ground)
    pen = ImageDraw.Draw(image)
    r, turn = rng.uniform(0.28, 0.42) * 2 * size, rng.uniform(0, 2 * math.pi)
    x, y = (rng.uniform(r, 2 * size - r) for _ in range(2))

    def around(corners, radii):
        return [(x + a * math.cos(turn + 2 * math.pi * i / corners), y + a * math.sin(turn + 2 * math.pi * i / corners)) for i, a in zip(range(corners), radii * corners)]

    if shape == "ring":
        pen.ellipse((x - r, y - r, x + r, y + r), outline=ink, width=int(r / 2.2))
    elif shape == "star":
        pen.polygon(around(10, [1.1 * r, 0.45 * r]), fill=ink)
    elif shape == "square":
        pen.polygon(around(4, [1.1 * r]), fill=ink)
    elif shape == "stripes":
        dx, dy = math.cos(turn), math.sin(turn)
        for k in (-1, 0, 1):
            a, b = x - 0.7 * k * r * dy, y + 0.7 * k * r * dx
            pen.line((a - r * dx, b - r * dy, a + r * dx, b + r * dy), fill=ink, width=int(r / 3.5))
    else:
        for a, b in [*around(5, [0.85 * r]), (x, y)]:
            pen.ellipse((a - r / 4, b - r / 4, a + r / 4, b + r / 4), fill=ink)
    return image.resize((size, size), Image.BOX)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for before, after in [(3, 12), (12, 20), (20, 28)]:
            layers += [nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]
        self.layers = nn.Sequential(*layers, nn.Conv2d(28, 28, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(112, 16))

    def forward(self, pictures):
        """Vectors of length 1, whose products tell how alike pictures are."""
        return functional.normalize(self.layers(pictures))


def to_tensor(image):
    """From -1 to 1, as main.ts has it."""
    return (torch.from_numpy(np.array(image.resize((32, 32), Image.BILINEAR))).permute(2, 0, 1) / 255 - 0.5) / 0.5


def main():
    torch.manual_seed(0)
    rng = random.Random(0)

    def batch(count):
        kinds = [rng.randrange(len(ALL)) for _ in range(count)]
        return torch.stack([to_tensor(picture(*ALL[k], rng)) for k in kinds]), torch.tensor(kinds)

    network = Embedder()
    steps = 500
    optimizer = torch.optim.Adam(network.parameters(), 4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, steps)
    for _ in range(steps):
        pictures, kinds = batch(96)
        vectors = network(pictures)
        # what is the same is nearer than everything else of the batch
        alike = (vectors @ vectors.T / 0.15).masked_fill(torch.eye(len(kinds), dtype=torch.bool), -1e4)
        same = (kinds[:, None] == kinds) & ~torch.eye(len(kinds), dtype=torch.bool)
        loss = -(alike.log_softmax(1) * same).sum() / same.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.no_grad():
        (known, kinds), (asked, wanted) = batch(500), batch(500)
        nearest = (network(asked) @ network(known).T).topk(5).indices
        print(f"of the same kind, of the nearest five: {(kinds[nearest] == wanted[:, None]).float().mean():.3f}")
        sizes = {0: torch.export.Dim("pictures", max=1024)}
        program = torch.export.export(network, (known[:2].clone(),), dynamic_shapes=(sizes,))
        for node in program.graph.nodes:
            node.meta.pop("stack_trace", None)  # paths of this machine
        program.example_inputs = None  # which would be half of the file
        torch.export.save(program, HERE / "embedder.pt2")
    shutil.rmtree(HERE / "pictures", ignore_errors=True)
    (HERE / "pictures").mkdir()
    rng = random.Random(1)
    for shape, hue in ALL:
        for i in (1, 2):
            picture(shape, hue, rng, rng.randrange(36, 64)).save(HERE / "pictures" / f"{hue}-{shape}-{i}.png")
    picture("star", "green", rng).save(HERE / "query.png")


if __name__ == "__main__":
    main()
