"""Exports SAM as two models, NAME-image and NAME-click: python sam.py OUT [--like NAME | --from REPOSITORY]

The first is called once for a picture. The second takes what it gives, and any number of points: quick enough for every click.
"""
import copy

# first: where torchvision's compiled part does not load, it declares the operators that transformers' imports name
from model_folder import Model, arguments

import torch
from torch.export import Dim
from transformers import SamConfig, SamModel


def sizes(width, layers, heads, globals_, side=1024, **settings):
    vision = dict(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, global_attn_indexes=globals_, image_size=side, initializer_range=0.02, **settings)
    # weights of the published configuration's range of 1e-10 would be as good as none
    return lambda: SamConfig(vision_config=vision, prompt_encoder_config=dict(image_size=side), initializer_range=0.02)


SIZES = {
    "sam-vit-base": sizes(768, 12, 12, [2, 5, 8, 11]),
    "sam-vit-large": sizes(1024, 24, 16, [5, 11, 17, 23]),
    "sam-tiny": sizes(32, 2, 4, [1], 128, window_size=3),
}


class Picture(torch.nn.Module):
    """[1, 3, side, side] to features [1, 256, side / 16, side / 16]."""

    def __init__(self, network):
        super().__init__()
        self.encoder = network.vision_encoder

    def forward(self, pixel_values):
        return self.encoder(pixel_values).last_hidden_state


class Click(torch.nn.Module):
    """Features of the picture, points [1, 1, n, 2] (x, y in pixels of it) and their labels [1, 1, n]: 1 for inside, 0 for outside.

    Gives three masks [1, 1, 3, side / 4, side / 4], positive inside, and what they promise [1, 1, 3].
    """

    def __init__(self, network):
        super().__init__()
        self.prompts, self.masks = network.prompt_encoder, network.mask_decoder
        with torch.no_grad():
            self.register_buffer("places", network.get_image_wide_positional_embeddings())

    def forward(self, image_embeddings, input_points, input_labels):
        sparse, dense = self.prompts(input_points=input_points, input_labels=input_labels, input_boxes=None, input_masks=None)
        masks, scores = self.masks(
            image_embeddings=image_embeddings, image_positional_embeddings=self.places, sparse_prompt_embeddings=sparse, dense_prompt_embeddings=dense, multimask_output=True
        )[:2]
        return masks, scores


def points(count, side, generator):
    return {
        "input_points": torch.rand(1, 1, count, 2, generator=generator) * side,
        "input_labels": torch.tensor([1, 0, 1, 1, 0] * 13)[:count].view(1, 1, count),
    }


def write(options, name, network, calls, shapes=None):
    options = copy.copy(options)
    options.name = name
    model = Model(options)
    model.keep_calls(network, calls)
    model.save(torch.export.export(network, (), calls[-1], dynamic_shapes=shapes))


def main():
    options = arguments(__doc__, list(SIZES)).parse_args()
    model = Model(options, is_folder=False)
    network = model.network(SamModel, None if options.source else SIZES[options.like]())
    side = network.config.vision_config.image_size
    generator = torch.Generator().manual_seed(7)
    image = {"pixel_values": torch.randn(1, 3, side, side, generator=generator)}
    picture, click = Picture(network).eval(), Click(network).eval()
    write(options, f"{model.name}-image", picture, [image])
    with torch.no_grad():
        features = {"image_embeddings": picture(**image)}
    many = Dim("points", max=64)
    shapes = {"image_embeddings": None, "input_points": {2: many}, "input_labels": {2: many}}
    write(options, f"{model.name}-click", click, [{**features, **points(count, side, generator)} for count in (1, 3)], shapes)


if __name__ == "__main__":
    main()
