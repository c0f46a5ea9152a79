"""What Pillow and torchvision make of a picture: cases.json. python make.py (PyTorch 2.13, torchvision 0.28, Pillow)"""
import hashlib
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts" / "sweep"))
import exporting  # noqa: E402,F401  torchvision without its C++ part
import torch  # noqa: E402
from PIL import Image  # noqa: E402
from torchvision import transforms as T  # noqa: E402
from torchvision.transforms import InterpolationMode as Mode  # noqa: E402

FILTERS = {"nearest": Mode.NEAREST, "bilinear": Mode.BILINEAR, "bicubic": Mode.BICUBIC, "lanczos": Mode.LANCZOS}
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def picture(width, height, channels):
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    return ((x * 7 + y * 13 + c * 31 + (x * y) % 17 * 11 + (x // 9 + y // 5) % 2 * 90) % 256).astype(np.uint8)


def case(width, height, samples, **options):
    pixels = picture(width, height, samples)
    image = Image.fromarray(pixels[:, :, 0] if samples == 1 else pixels)
    steps, planes = [], options.get("channels", 3)
    image = image.convert("L" if planes == 1 else "RGB")
    if "resize" in options:
        steps.append(T.Resize(options["resize"], FILTERS[options.get("filter", "bilinear")], max_size=None))
    if "crop" in options:
        steps.append(T.CenterCrop(options["crop"]))
    steps.append(T.ToTensor())
    if "mean" in options:
        steps.append(T.Normalize(options["mean"], options["std"]))
    result = T.Compose(steps)(image)
    digest = hashlib.sha256(result.contiguous().numpy().tobytes()).hexdigest()
    return dict(width=width, height=height, channels=samples, options=options, shape=list(result.shape), sha256=digest)


def main():
    cases = [
        case(40, 30, 3),
        case(40, 30, 4),
        case(40, 30, 1),
        case(40, 30, 3, channels=1),
        case(40, 30, 4, channels=1, resize=[17, 23], mean=[0.5], std=[0.25]),
        case(40, 30, 1, channels=1, resize=20),
        case(300, 200, 3, resize=256, crop=224, mean=MEAN, std=STD),
        case(200, 301, 4, resize=256, crop=[225, 224], filter="bicubic", mean=MEAN, std=STD),
        case(7, 5, 3, resize=[1, 1]),
        case(1, 9, 3, resize=[4, 3], filter="bicubic"),
        case(64, 48, 3, crop=[31, 32]),
        case(64, 48, 3, resize=[48, 20], filter="lanczos"),
        case(64, 48, 3, resize=[20, 64], filter="bicubic"),
    ]
    for name in FILTERS:
        cases.append(case(131, 97, 3, resize=[32, 50], filter=name))
        cases.append(case(31, 23, 3, resize=[60, 100], filter=name))
        cases.append(case(61, 83, 3, resize=40, crop=33, filter=name))
        cases.append(case(640, 480, 3, resize=[9, 7], filter=name))
    (pathlib.Path(__file__).parent / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
