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
    """CLIP looks at the token that ends a text, SigLIP at the last of what is filled up to the whole length."""

    def forward(self, input_ids, attention_mask):
        return self.vector(input_ids=input_ids, attention_mask=attention_mask)


class FullTexts(Side):
    def forward(self, input_ids):
        return self.vector(input_ids=input_ids)


def pictures(count, size):
    return {"pixel_values": torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(count))}


def texts(lengths, config):
    """Of CLIP: a text ends with its last token, and the mask hides what is behind."""
    generator = torch.Generator().manual_seed(len(lengths))
    # which is the last of all, whatever older configurations say
    end = config.vocab_size - 1
    ids, mask = torch.full((len(lengths), max(lengths)), end), torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    for i, length in enumerate(lengths):
        ids[i, : length - 1] = torch.randint(1000, end, (length - 1,), generator=generator)
        mask[i, :length] = 1
    return {"input_ids": ids, "attention_mask": mask}


def full_texts(count, config):
    """Of SigLIP: always of the whole length."""
    return {"input_ids": torch.randint(2, config.vocab_size, (count, config.max_position_embeddings), generator=torch.Generator().manual_seed(count))}


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
    if is_clip:
        some = {**many, 1: Dim("length", min=2, max=text.max_position_embeddings)}
        words = Texts(network.text_model, network.text_projection)
        folder = write(options, f"{model.name}-text", words, [texts([8], text), texts([12, 5, 77, 9], text)], {"input_ids": some, "attention_mask": some})
    else:
        folder = write(options, f"{model.name}-text", FullTexts(network.text_model, None), [full_texts(1, text), full_texts(4, text)], {"input_ids": many})
    folder.keep_json("config.json", {"text": {"task": "embed"}})
    # texts of CLIP end with their last token, those of SigLIP with token 1
    end = text.vocab_size - 1 if is_clip else 1
    folder.keep_tokenizer(text.vocab_size, {end: "<|endoftext|>"}, end)
    print("scale", network.logit_scale.exp().item(), "bias", 0 if is_clip else network.logit_bias.item())


if __name__ == "__main__":
    main()
