"""Networks of torchvision with random weights, on small images: from_torchvision.py FOLDER [NAME ...]"""
import sys

import exporting
import torch
from torch import nn
from torchvision.models import get_model

NAMES = """
alexnet convnext_tiny deeplabv3_mobilenet_v3_large deeplabv3_resnet50 densenet121 efficientnet_b0 efficientnet_b1 efficientnet_v2_s
fasterrcnn_mobilenet_v3_large_320_fpn fasterrcnn_resnet50_fpn fasterrcnn_resnet50_fpn_v2 fcn_resnet50 fcos_resnet50_fpn googlenet inception_v3
keypointrcnn_resnet50_fpn lraspp_mobilenet_v3_large maskrcnn_resnet50_fpn maxvit_t mc3_18 mnasnet0_5 mnasnet1_0 mobilenet_v2
mobilenet_v3_large mobilenet_v3_small mvit_v1_b mvit_v2_s r2plus1d_18 r3d_18 raft_small regnet_x_400mf regnet_y_400mf resnet18 resnet50
resnext50_32x4d retinanet_resnet50_fpn retinanet_resnet50_fpn_v2 s3d shufflenet_v2_x0_5 shufflenet_v2_x1_0 squeezenet1_0 squeezenet1_1
ssd300_vgg16 ssdlite320_mobilenet_v3_large swin3d_t swin_t swin_v2_t vgg11 vgg11_bn vit_b_16 wide_resnet50_2
""".split()


class Detector(nn.Module):
    """One image in, what is detected on it out."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, image):
        found = self.network([image])
        found = found[0] if isinstance(found, list) else found[1][0]
        return tuple(found[key] for key in sorted(found))


def shapes(name):
    if name.startswith("raft"):
        return [(1, 3, 128, 128)] * 2
    if "video" in name or name in ("mc3_18", "r2plus1d_18", "r3d_18", "s3d", "mvit_v1_b", "mvit_v2_s") or name.startswith("swin3d"):
        return [(1, 3, 16, 224, 224) if name.startswith("mvit") else (1, 3, 16, 64, 64)]
    if name.startswith("vit"):
        return [(1, 3, 64, 64)]
    if name.startswith("inception"):
        return [(1, 3, 128, 128)]
    return [(1, 3, 96, 96)]


def make(name):
    def network():
        options = dict(weights=None)
        detects = "rcnn" in name or name.startswith(("ssd", "retinanet", "fcos"))
        if detects or "deeplab" in name or "fcn" in name or "lraspp" in name:
            options.update(weights_backbone=None, num_classes=5)
        if detects:
            if name.startswith("ssd"):
                options.update(topk_candidates=40, detections_per_img=10)
            else:
                options.update(min_size=96, max_size=128)
            if "rcnn" in name:
                options.update(rpn_pre_nms_top_n_test=40, rpn_post_nms_top_n_test=20, box_detections_per_img=10)
            elif not name.startswith("ssd"):
                options.update(topk_candidates=40, detections_per_img=10)
            images = [(torch.rand(3, 96, 96),), (torch.rand(3, 96, 96),)]
            return Detector(get_model(name, **options).eval()), images
        if name.startswith("vit"):
            options.update(image_size=64)
        if name.startswith("maxvit"):
            options.update(input_size=(224, 224))
        sizes = shapes(name)
        if name.startswith("maxvit"):
            sizes = [(1, 3, 224, 224)]
        model = get_model(name, **options).eval()
        return model, [tuple(torch.randn(size) for size in sizes) for _ in range(2)]

    return network


def main():
    folder, *names = sys.argv[1:]
    exporting.export_all(folder, [(name, make(name)) for name in names or NAMES])


if __name__ == "__main__":
    main()
