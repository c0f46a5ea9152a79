"""Exports a detector: python detect.py OUT [--like NAME | --from WEIGHTS]

YOLO-like networks are of this file: a residual backbone whose maps are mixed from coarse to fine and back, and heads that give each cell a distribution of distances to the four sides and a
probability for each class. --from FILE.pt takes one of ultralytics in their place, with that package. RT-DETR is that of transformers.
"""
# first: where torchvision's compiled part does not load, it declares the operators that transformers' imports name
from model_folder import Model, arguments, balanced, settled

import torch
from torch import nn
from transformers import AutoModelForObjectDetection, RTDetrConfig, RTDetrResNetConfig


class Layer(nn.Module):
    """Convolution, batch normalization, SiLU."""

    def __init__(self, before, after, size=1, stride=1):
        super().__init__()
        self.convolution, self.norm = nn.Conv2d(before, after, size, stride, size // 2, bias=False), nn.BatchNorm2d(after)

    def forward(self, x):
        return nn.functional.silu(self.norm(self.convolution(x)))


class Split(nn.Module):
    """Half of the channels goes through a chain of blocks, and all that was on the way is mixed in the end."""

    def __init__(self, before, after, depth, is_residual):
        super().__init__()
        half = after // 2
        self.first, self.last = Layer(before, after), Layer((2 + depth) * half, after)
        self.blocks = nn.ModuleList(nn.Sequential(Layer(half, half, 3), Layer(half, half, 3)) for _ in range(depth))
        self.is_residual = is_residual

    def forward(self, x):
        found = list(self.first(x).chunk(2, 1))
        for block in self.blocks:
            x = block(found[-1])
            found.append(found[-1] + x if self.is_residual else x)
        return self.last(torch.cat(found, 1))


class Pyramid(nn.Module):
    """The largest of ever wider surroundings."""

    def __init__(self, channels):
        super().__init__()
        self.first, self.last = Layer(channels, channels // 2), Layer(2 * channels, channels)

    def forward(self, x):
        found = [self.first(x)]
        for _ in range(3):
            found.append(nn.functional.max_pool2d(found[-1], 5, 1, 2))
        return self.last(torch.cat(found, 1))


class Yolo(nn.Module):
    """A picture [n, 3, height, width] of pixels from 0 to 1, sizes divisible by 32, to boxes [n, 4, cells], middle, width and height in pixels, and probabilities [n, classes, cells]."""

    STRIDES, BINS = (8, 16, 32), 16

    def __init__(self, width, depth, classes=80):
        super().__init__()
        c = [round(width * channels) for channels in (64, 128, 256, 512, 1024)]
        n = [max(round(depth * count), 1) for count in (3, 6, 6, 3)]
        self.stem = nn.Sequential(Layer(3, c[0], 3, 2), Layer(c[0], c[1], 3, 2), Split(c[1], c[1], n[0], True))
        self.stages = nn.ModuleList(nn.Sequential(Layer(c[i], c[i + 1], 3, 2), Split(c[i + 1], c[i + 1], n[i], True)) for i in (1, 2, 3))
        self.pyramid = Pyramid(c[4])
        self.up = nn.ModuleList([Split(c[4] + c[3], c[3], n[3], False), Split(c[3] + c[2], c[2], n[3], False)])
        self.shrink = nn.ModuleList([Layer(c[2], c[2], 3, 2), Layer(c[3], c[3], 3, 2)])
        self.down = nn.ModuleList([Split(c[2] + c[3], c[3], n[3], False), Split(c[3] + c[4], c[4], n[3], False)])
        of_sides, of_classes = max(16, c[2] // 4, 4 * self.BINS), max(c[2], min(classes, 100))
        head = lambda channels, inner, outputs: nn.Sequential(Layer(channels, inner, 3), Layer(inner, inner, 3), nn.Conv2d(inner, outputs, 1))
        self.sides = nn.ModuleList(head(channels, of_sides, 4 * self.BINS) for channels in c[2:])
        self.classes = nn.ModuleList(head(channels, of_classes, classes) for channels in c[2:])

    def forward(self, images):
        fine, middle, coarse = [], self.stem(images), None
        for stage in self.stages:
            middle = stage(middle)
            fine.append(middle)
        fine, middle, coarse = fine[0], fine[1], self.pyramid(fine[2])
        double = lambda x: nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")
        middle = self.up[0](torch.cat([double(coarse), middle], 1))
        maps = [self.up[1](torch.cat([double(middle), fine], 1))]
        for shrink, down, other in zip(self.shrink, self.down, (middle, coarse)):
            maps.append(down(torch.cat([shrink(maps[-1]), other], 1)))
        boxes, chances = [], []
        for x, stride, sides, classes in zip(maps, self.STRIDES, self.sides, self.classes):
            rows, columns = x.shape[-2:]
            # the mean of each distribution, in cells
            distances = sides(x).view(-1, 4, self.BINS, rows * columns).softmax(2).mul(torch.arange(self.BINS, dtype=x.dtype).view(1, 1, -1, 1)).sum(2)
            y, x = torch.meshgrid(torch.arange(rows) + 0.5, torch.arange(columns) + 0.5, indexing="ij")
            cell = torch.stack([x.flatten(), y.flatten()])
            low, high = cell - distances[:, :2], cell + distances[:, 2:]
            boxes.append(torch.cat([(low + high) / 2, high - low], 1) * stride)
            chances.append(classes(maps[len(chances)]).sigmoid().flatten(2))
        return torch.cat(boxes, 2), torch.cat(chances, 2)


class First(nn.Module):
    """The predictions of a network of ultralytics, which gives both in one tensor, and its maps beside that."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, images):
        found = self.network(images)
        return (found if isinstance(found, torch.Tensor) else found[0]).tensor_split([4], 1)


class Detr(nn.Module):
    """The best class of each query, sorted by its probability, with its box as left, top, right and bottom of 0 to 1: nothing is left for the caller to drop but what is improbable."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, images):
        found = self.network(images)
        scores, classes = found.logits.sigmoid().max(-1)
        scores, order = scores.sort(dim=1, descending=True, stable=True)
        middle, size = found.pred_boxes.split(2, -1)
        boxes = torch.cat([middle - size / 2, middle + size / 2], -1)
        return boxes.gather(1, order.unsqueeze(-1).expand(-1, -1, 4)), scores, classes.gather(1, order)


def rtdetr(hidden_sizes, depths, kind, layers, expansion, **settings):
    resnet = lambda: RTDetrResNetConfig(hidden_sizes=hidden_sizes, depths=depths, layer_type=kind, out_indices=[2, 3, 4], downsample_in_bottleneck=kind == "bottleneck")
    return lambda: RTDetrConfig(
        backbone_config=resnet(), encoder_in_channels=hidden_sizes[1:], decoder_layers=layers, hidden_expansion=expansion, num_labels=80, **settings
    )


SIZES = {
    "yolo-n": lambda: Yolo(0.25, 1 / 3),
    "yolo-s": lambda: Yolo(0.5, 1 / 3),
    "rtdetr-r18vd": rtdetr([64, 128, 256, 512], [2, 2, 2, 2], "basic", 3, 0.5),
    "rtdetr-r50vd": rtdetr([256, 512, 1024, 2048], [3, 4, 6, 3], "bottleneck", 6, 1.0),
    "yolo-tiny": lambda: Yolo(0.0625, 1 / 6, 8),
    "rtdetr-tiny": rtdetr([8, 16, 24, 32], [1, 1, 1, 1], "basic", 2, 0.5, d_model=32, encoder_hidden_dim=32, decoder_in_channels=[32, 32, 32], num_queries=20, encoder_ffn_dim=48, decoder_ffn_dim=48, encoder_attention_heads=4, decoder_attention_heads=4),
}


def main():
    parser = arguments(__doc__, list(SIZES))
    parser.add_argument("--size", type=int, default=640, help="height and width of pictures")
    options = parser.parse_args()
    model = Model(options)
    image = torch.rand(1, 3, options.size, options.size, generator=torch.Generator().manual_seed(4))
    if options.source and options.source.endswith(".pt"):
        from ultralytics import YOLO

        detector = First(YOLO(options.source).model.fuse())
    elif options.source or options.like.startswith("rtdetr"):
        detector = Detr(model.network(AutoModelForObjectDetection, None if options.source else SIZES[options.like]()))
    else:
        detector = model.network(lambda make: make(), SIZES[options.like])
    detector.eval()
    if not options.source:
        if isinstance(detector, Detr):
            # probabilities that are nearly the same are sorted by roundings
            balanced(detector, image, linear=True)
        else:
            settled(detector, image)
    model.keep_calls(detector, [{"images": image}])
    with torch.no_grad():
        detector(image)
    model.save(torch.export.export(detector, (image,)))


if __name__ == "__main__":
    main()
