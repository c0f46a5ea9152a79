"""Exports CLIP or SigLIP as two models, NAME-image and NAME-text, whose vectors are comparable: python clip.py OUT [--like NAME | --from REPOSITORY]

Both give vectors of length 1, of any number of pictures or texts. Prints by what products of them are multiplied, and what is added, before softmax (CLIP) or sigmoid (SigLIP).
"""
import copy

# first: where torchvision's compiled part does not load, it declares the operators that transformers' imports name
from model_folder import Model, arguments

import torch
from torch.export import Dim
from transformers import AutoModel, CLIPConfig, SiglipConfig


def clip(patch, width, layers, heads, text_width, text_heads, projection):
    return lambda: CLIPConfig(
        vision_config=dict(hidden_size=width, intermediate_size=4 * width, num_hidden_layers=layers, num_attention_heads=heads, patch_size=patch, image_size=224, projection_dim=projection),
        text_config=dict(hidden_size=text_width, intermediate_size=4 * text_width, num_hidden_layers=12, num_attention_heads=text_heads, eos_token_id=49407, projection_dim=projection),
        projection_dim=projection,
    )


def siglip(patch, vocabulary):
    # the published sizes of base, which are the defaults but for these
    return lambda: SiglipConfig(vision_config=dict(patch_size=patch, image_size=224), text_config=dict(vocab_size=vocabulary, max_position_embeddings=64))


SIZES = {
    "clip-vit-base-patch32": clip(32, 768, 12, 12, 512, 8, 512),
    "clip-vit-base-patch16": clip(16, 768, 12, 12, 512, 8, 512),
    "clip-vit-large-patch14": clip(14, 1024, 24, 16, 768, 12, 768),
    "siglip-base-patch16-224": siglip(16, 32000),
    "siglip2-base-patch16-224": siglip(16, 256000),
    "clip-tiny": lambda: CLIPConfig(
        vision_config=dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, patch_size=16, image_size=64, projection_dim=16),
        text_config=dict(vocab_size=2000, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, bos_token_id=1998, eos_token_id=1999, projection_dim=16),
        projection_dim=16,
    ),
    "siglip-tiny": lambda: SiglipConfig(
        vision_config=dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, patch_size=16, image_size=64),
        text_config=dict(vocab_size=500, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64, projection_size=32),
    ),
}


class Side(torch.nn.Module):
    """One of the two networks, with its projection, where there is one."""

    def __init__(self, network, projection):
        super().__init__()
        self.network, self.projection = network, projection

    def vector(self, **values):
        found = self.network(**values).pooler_output
        return torch.nn.functional.normalize(found if self.projection is None else self.projection(found), dim=-1)


class Pictures(Side):
    def forward(self, pixel_values):
        return self.vector(pixel_values=pixel_values)


class Texts(Side):
    """CLIP looks at the token that ends a text."""

    def forward(self, input_ids, attention_mask):
        return self.vector(input_ids=input_ids, attention_mask=attention_mask)


class FullTexts(Side):
    """SigLIP looks at all places: what a text leaves of them are ones."""

    def __init__(self, network, places):
        super().__init__(network, None)
        self.places = places

    def forward(self, input_ids, attention_mask):
        whole = torch.nn.functional.pad(torch.where(attention_mask != 0, input_ids, 1), (0, self.places - input_ids.shape[1]), value=1)
        return self.vector(input_ids=whole)


def pictures(count, size):
    return {"pixel_values": torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(count))}


def texts(lengths, vocabulary, end):
    """Texts of these lengths, each of which ends with a token of its own; the mask hides what is behind."""
    generator = torch.Generator().manual_seed(len(lengths))
    ids, mask = torch.full((len(lengths), max(lengths)), end), torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    for i, length in enumerate(lengths):
        ids[i, : length - 1] = torch.randint(vocabulary // 2, vocabulary - 1, (length - 1,), generator=generator)
        mask[i, :length] = 1
    return {"input_ids": ids, "attention_mask": mask}


def write(options, name, network, calls, shapes):
    options = copy.copy(options)
    options.name = name
    model = Model(options)
    network.eval()
    model.keep_calls(network, calls)
    model.save(torch.export.export(network, (), calls[1], dynamic_shapes=shapes))
    return model


def main():
    options = arguments(__doc__, list(SIZES)).parse_args()
    model = Model(options, is_folder=False)
    network = model.network(AutoModel, None if options.source else SIZES[options.like]())
    vision, text = network.config.vision_config, network.config.text_config
    is_clip = network.config.model_type == "clip"
    many = {0: Dim("count", max=256)}
    image = Pictures(network.vision_model, network.visual_projection if is_clip else None)
    write(options, f"{model.name}-image", image, [pictures(1, vision.image_size), pictures(4, vision.image_size)], {"pixel_values": many})
    # texts of CLIP end with their last token, whatever older configurations say, those of SigLIP with token 1
    end, places = text.vocab_size - 1 if is_clip else 1, text.max_position_embeddings
    some = {**many, 1: Dim("length", min=2, max=places)}
    words = Texts(network.text_model, network.text_projection) if is_clip else FullTexts(network.text_model, places)
    calls = [texts(lengths, text.vocab_size, end) for lengths in ([8], [12, 5, places, 9])]
    folder = write(options, f"{model.name}-text", words, calls, {"input_ids": some, "attention_mask": some})
    folder.keep_json("config.json", {"text": {"task": "embed"}})
    folder.keep_tokenizer(text.vocab_size, {end: "<|endoftext|>"}, end)
    print("scale", network.logit_scale.exp().item(), "bias", 0 if is_clip else network.logit_bias.item())


if __name__ == "__main__":
    main()
