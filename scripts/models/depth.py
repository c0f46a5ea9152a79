"""Exports a network that estimates depth: python depth.py OUT [--like NAME | --from REPOSITORY] [--size SIDE]"""
# first: where torchvision's compiled part does not load, it declares the operators that transformers' imports name
from model_folder import Model, arguments, balanced

import torch
from transformers import AutoModelForDepthEstimation, DepthAnythingConfig, Dinov2Config, DPTConfig


def depth_anything(width, layers, heads, stages, necks, fusion):
    """Sizes of version 2, whose features are of these layers."""
    return lambda: DepthAnythingConfig(
        backbone_config=Dinov2Config(
            image_size=518, patch_size=14, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, out_indices=stages, reshape_hidden_states=False, apply_layernorm=True
        ),
        reassemble_hidden_size=width, neck_hidden_sizes=necks, fusion_hidden_size=fusion,
    )  # fmt: skip


SIZES = {
    "depth-anything-v2-small": depth_anything(384, 12, 6, [3, 6, 9, 12], [48, 96, 192, 384], 64),
    "depth-anything-v2-base": depth_anything(768, 12, 12, [3, 6, 9, 12], [96, 192, 384, 768], 128),
    "dpt-large": lambda: DPTConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096, backbone_out_indices=[5, 11, 17, 23], neck_hidden_sizes=[256, 512, 1024, 1024]
    ),
    "depth-tiny": lambda: DepthAnythingConfig(
        backbone_config=Dinov2Config(image_size=70, patch_size=14, hidden_size=32, num_hidden_layers=4, num_attention_heads=4, out_indices=[1, 2, 3, 4], reshape_hidden_states=False),
        reassemble_hidden_size=32, neck_hidden_sizes=[8, 16, 24, 32], fusion_hidden_size=16, head_hidden_size=8,
    ),  # fmt: skip
}


class Depth(torch.nn.Module):
    """A picture [n, 3, height, width] to [n, height, width]."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, pixel_values):
        return self.network(pixel_values).predicted_depth


def main():
    parser = arguments(__doc__, list(SIZES))
    parser.add_argument("--size", type=int, nargs="+", metavar="SIDE", help="height and width of pictures, or the one number that both are; what the network was trained with without it")
    options = parser.parse_args()
    model = Model(options)
    network = model.network(AutoModelForDepthEstimation, None if options.source else SIZES[options.like]())
    own = (getattr(network.config, "backbone_config", None) or network.config).image_size
    sides = options.size or [own]
    image = torch.randn(1, 3, sides[0], sides[-1], generator=torch.Generator().manual_seed(6))
    depth = Depth(network).eval()
    if not options.source:
        balanced(depth, image)
    model.keep_calls(depth, [{"pixel_values": image}])
    model.save(torch.export.export(depth, (image,)))


if __name__ == "__main__":
    main()
