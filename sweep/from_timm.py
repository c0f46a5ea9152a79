"""Networks of timm with random weights, on small images: from_timm.py FOLDER [NAME ...]; by default those of timm-names.txt."""
import os
import sys

import exporting
import timm
import torch

SIZES = (64, 96, 128, 160, 192, 224, 240, 256, 288)


def made(name, size):
    try:
        return timm.create_model(name, pretrained=False, num_classes=10, img_size=size)
    except (TypeError, AttributeError):
        return timm.create_model(name, pretrained=False, num_classes=10)


def make(name):
    def network():
        problem = None
        for size in SIZES:
            try:
                exporting.seed(name)
                model = made(name, size).eval()
                channels = model.default_cfg["input_size"][0]
                calls = [(torch.randn(1, channels, size, size),), (torch.randn(1, channels, size, size),)]
                with torch.no_grad():
                    model(*calls[0])
                return model, calls
            except Exception as error:  # too small for it, each network says so in its own way
                problem = error
        raise exporting.NotExportable(f"no size of {SIZES} will do: {problem}")

    return network


def main():
    folder, *names = sys.argv[1:]
    if not names:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "timm-names.txt")) as file:
            names = file.read().split()
    exporting.export_all(folder, [(name, make(name)) for name in names])


if __name__ == "__main__":
    main()
