"""Trains a small network to find drawn shapes, and writes it with its labels and a picture to try: python make.py (PyTorch and torchvision of one release, Pillow)"""
import math
import pathlib
import random

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFilter
from torch import Tensor, nn
from torchvision.ops import nms

HERE = pathlib.Path(__file__).parent
LABELS = ["circle", "cross", "square", "triangle"]
STRIDE, SIZE = 8, 112


def outline(kind, x, y, r, turn):
    """Corners of a shape around (x, y), whose farthest one is `r` away."""
    if kind == "cross":
        arm = [(-0.25, -1), (0.25, -1), (0.25, -0.25), (1, -0.25), (1, 0.25), (0.25, 0.25), (0.25, 1), (-0.25, 1), (-0.25, 0.25), (-1, 0.25), (-1, -0.25), (-0.25, -0.25)]
        cos, sin = math.cos(turn) * r * 0.97, math.sin(turn) * r * 0.97
        return [(x + cos * u - sin * v, y + sin * u + cos * v) for u, v in arm]
    corners = {"circle": 60, "square": 4, "triangle": 3}[kind]
    return [(x + r * math.cos(turn + 2 * math.pi * i / corners), y + r * math.sin(turn + 2 * math.pi * i / corners)) for i in range(corners)]


def scene(rng, width, height, count, scale=1):
    """A picture with shapes side by side, and for each of them its class and box."""
    back = np.array([rng.randrange(256) for _ in range(3)])
    slope = np.linspace(-1, 1, width)[:, None] * np.array([rng.uniform(-40, 40) for _ in range(3)])
    noise = np.random.default_rng(rng.randrange(2**32)).normal(0, rng.choice([0, rng.uniform(0, 12)]), (height, width, 3))
    image = Image.fromarray((back + slope + noise).clip(0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(image)
    found, circles = [], []
    for _ in range(40):
        if len(found) == count:
            break
        r = scale * rng.uniform(12, 25)
        x, y = rng.uniform(r, width - r), rng.uniform(r, height - r)
        if any(math.hypot(x - a, y - b) < 0.85 * (r + c) for a, b, c in circles):
            continue
        circles.append((x, y, r))
        kind = rng.randrange(4)
        corners = outline(LABELS[kind], x, y, r, rng.uniform(0, 2 * math.pi))
        pen.polygon(corners, fill=tuple((int(c) + rng.randrange(80, 176)) % 256 for c in back))
        xs, ys = zip(*corners)
        found.append((kind, (min(xs), min(ys), max(xs), max(ys))))
    return image.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 0.8))), found


class Block(nn.Module):
    """Looks around by a convolution of each channel, then mixes channels."""

    def __init__(self, width, dilation):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=dilation, dilation=dilation, groups=width, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x):
        return torch.relu(x + self.layers(x))


class Detector(nn.Module):
    """Each cell of 8 x 8 pixels says which shape has its middle there, and how far away that shape's sides are."""

    def __init__(self):
        super().__init__()
        layers = []
        for before, after in [(3, 12), (12, 24), (24, 40)]:
            layers += [nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
            layers += [Block(24, 1)] if after == 24 else []
        self.layers = nn.Sequential(*layers, Block(40, 1), Block(40, 2), Block(40, 1), Block(40, 2), nn.Conv2d(40, 8, 1))
        # hardly any cell has something
        nn.init.constant_(self.layers[-1].bias[:4], -3)

    def maps(self, pictures: Tensor) -> Tensor:
        return self.layers(pictures)

    def forward(self, picture: Tensor, min_score: float = 0.5, max_overlap: float = 0.5):
        """Boxes [n, 4] in pixels of this picture [1, 3, height, width] (left, top, right, bottom), their scores [n] and classes [n], the best one first."""
        maps = self.maps(picture)[0]
        scores, classes = maps[:4].sigmoid().flatten(1).max(0)
        y = torch.arange(maps.size(1), device=maps.device).mul(8).add(4.0).unsqueeze(1).expand(maps.size(1), maps.size(2)).flatten()
        x = torch.arange(maps.size(2), device=maps.device).mul(8).add(4.0).expand(maps.size(1), maps.size(2)).flatten()
        sides = maps[4:].flatten(1).exp().mul(8)
        boxes = torch.stack([x - sides[0], y - sides[1], x + sides[2], y + sides[3]], 1)
        likely = scores > min_score
        boxes, scores, classes = boxes[likely], scores[likely], classes[likely]
        kept = nms(boxes, scores, max_overlap)
        return boxes[kept], scores[kept], classes[kept]


def to_tensor(image):
    """From -1 to 1, as main.mjs has it."""
    return (torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255 - 0.5) / 0.5


def targets(found, height, width):
    """What the maps of a picture should be, and at which cells sides count."""
    wanted, here = torch.zeros(8, height // STRIDE, width // STRIDE), torch.zeros(height // STRIDE, width // STRIDE)
    cy, cx = torch.meshgrid(torch.arange(here.size(0)) * STRIDE + 4.0, torch.arange(here.size(1)) * STRIDE + 4.0, indexing="ij")
    for kind, (left, top, right, bottom) in found:
        middle = torch.maximum((cx - (left + right) / 2).abs(), (cy - (top + bottom) / 2).abs()) <= 6
        here[middle] = 1
        wanted[kind, middle] = 1
        sides = torch.stack([cx - left, cy - top, right - cx, bottom - cy]).clamp(min=1).div(STRIDE).log()
        wanted[4:, middle] = sides[:, middle]
    return wanted, here


def dataset(count, rng):
    pictures, wanted, here = [], [], []
    for _ in range(count):
        image, found = scene(rng, SIZE, SIZE, rng.randint(1, 4))
        w, h = targets(found, SIZE, SIZE)
        pictures.append(to_tensor(image))
        wanted.append(w)
        here.append(h)
    return torch.stack(pictures), torch.stack(wanted), torch.stack(here)


def turned(pictures, wanted, here, rng):
    """Mirrored, turned and of other colours, or not."""
    left, top, right, bottom = 4, 5, 6, 7
    kinds = [0, 1, 2, 3]
    if rng.random() < 0.5:
        pictures, wanted, here = pictures.flip(3), wanted.flip(3)[:, [*kinds, right, top, left, bottom]], here.flip(2)
    if rng.random() < 0.5:
        pictures, wanted, here = pictures.flip(2), wanted.flip(2)[:, [*kinds, left, bottom, right, top]], here.flip(1)
    if rng.random() < 0.5:
        pictures, wanted, here = pictures.transpose(2, 3), wanted.transpose(2, 3)[:, [*kinds, top, left, bottom, right]], here.transpose(1, 2)
    return pictures[:, torch.randperm(3)] * (1 if rng.random() < 0.5 else -1), wanted, here


def loss_of(maps, wanted, here):
    chances, truth = maps[:, :4].sigmoid(), wanted[:, :4]
    cross = nn.functional.binary_cross_entropy(chances, truth, reduction="none")
    focal = (cross * (chances - truth).abs()).sum() / here.sum()
    sides = (nn.functional.smooth_l1_loss(maps[:, 4:], wanted[:, 4:], reduction="none", beta=0.1) * here[:, None]).sum() / here.sum()
    return focal + sides


def area(box):
    return max(0, box[2] - box[0]) * max(0, box[3] - box[1])


def overlap(a, b):
    both = area((max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])))
    return both / (area(a) + area(b) - both)


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    network = Detector()
    pictures, wanted, here = dataset(2000, rng)
    steps = 1500
    optimizer = torch.optim.AdamW(network.parameters(), 4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, steps)
    for step in range(steps):
        some = torch.randint(len(pictures), (16,))
        seen, truth, counts = turned(pictures[some], wanted[some], here[some], rng)
        loss = loss_of(network.maps(seen), truth, counts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            print(f"{step + 1} steps, loss {loss:.3f}")
    network.eval()
    with torch.no_grad():
        right = wrong = missed = 0
        for _ in range(100):
            image, found = scene(rng, SIZE, SIZE, rng.randint(1, 4))
            boxes, _, classes = network(to_tensor(image)[None])
            hits = {i for i, (kind, box) in enumerate(found) if any(overlap(box, b) > 0.6 and k == kind for b, k in zip(boxes.tolist(), classes.tolist()))}
            right += len(hits)
            wrong += len(boxes) - len(hits)
            missed += len(found) - len(hits)
        print(f"found {right}, missed {missed}, wrong {wrong}")
        torch.jit.freeze(torch.jit.script(network)).save(str(HERE / "detector.pt"))
    (HERE / "labels.txt").write_text("\n".join(LABELS) + "\n")
    write_example()


def write_example():
    image, found = scene(random.Random(13), 336, 252, 6, 2.25)
    image.save(HERE / "shapes.png")
    for kind, box in found:
        print(LABELS[kind], [round(side) for side in box])


if __name__ == "__main__":
    main()
