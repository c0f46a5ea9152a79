#!/usr/bin/env python3
"""Traces full-size networks of timm, torchvision and transformers with random weights, for bench/zoo.mjs, with PyTorch 2.

  export_zoo.py FOLDER [FAMILY/NAME ...]  by default those of zoo.txt; those that are there already stay

A network becomes FAMILY-NAME.ptl, .json and .bin, as sweep/exporting.py says. Networks of transformers have two layers and a
small vocabulary, and else the sizes that their configuration gives by default, or those of a model that people run (CONFIGURATIONS).
"""
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent.parent / "scripts" / "sweep"))
import exporting  # noqa: E402

TOKENS = 128
SMALL = dict(vocab_size=8192, num_hidden_layers=2, n_layer=2, n_layers=2, num_layers=2, encoder_layers=2, decoder_layers=2, use_cache=False)
DECODER = dict(hidden_size=1024, intermediate_size=2816, num_attention_heads=16, num_key_value_heads=4, head_dim=64)
CONFIGURATIONS = {
    "bart": dict(d_model=768, encoder_ffn_dim=3072, decoder_ffn_dim=3072, encoder_attention_heads=12, decoder_attention_heads=12),
    "deberta-v2": dict(hidden_size=768, intermediate_size=3072, num_attention_heads=12, relative_attention=True, pos_att_type=["c2p", "p2c"]),
    "gemma": DECODER,
    "gpt_neox": dict(hidden_size=1024, intermediate_size=4096, num_attention_heads=16),
    "llama": DECODER,
    "qwen3": DECODER,
    "xlnet": dict(d_inner=3072, d_model=768, n_head=12),
    "albert": dict(hidden_size=768, intermediate_size=3072, num_attention_heads=12),
}
IMAGES = {"clip_vision_model", "segformer"}
SOUNDS = {"wav2vec2", "hubert"}
LARGE_IMAGES = {"deeplabv3_mobilenet_v3_large": 256, "fcn_resnet50": 256, "lraspp_mobilenet_v3_large": 256}
VIDEOS = {"mc3_18": 112, "r3d_18": 112}


def from_timm(name):
    import timm

    network = timm.create_model(name, pretrained=False).eval()
    return network, [(torch.randn(1, *network.default_cfg["input_size"]),) for _ in range(2)]


def from_torchvision(name):
    from torchvision.models import get_model

    options = {"weights_backbone": None} if name.startswith(("deeplab", "fcn", "lraspp")) else {}
    if name == "googlenet":
        options["init_weights"] = True
    network = get_model(name, weights=None, **options).eval()
    size = VIDEOS.get(name) or LARGE_IMAGES.get(name, 224)
    shape = (1, 3, 8, size, size) if name in VIDEOS else (1, 3, size, size)
    return network, [(torch.randn(shape),) for _ in range(2)]


def from_transformers(name):
    import transformers
    from transformers import CONFIG_MAPPING, AutoModel

    transformers.logging.set_verbosity_error()
    kind = CONFIG_MAPPING[name]
    default = kind()
    sizes = {key: value for key, value in SMALL.items() if hasattr(default, key) and name not in IMAGES}
    if name == "mobilebert":  # thin layers, of which it has many
        sizes["num_hidden_layers"] = 8
    if name == "whisper":  # whose special tokens have high numbers
        del sizes["vocab_size"]
    network = AutoModel.from_config(kind(**{**sizes, **CONFIGURATIONS.get(name, {})})).float().eval()
    calls = [inputs_of(name, network) for _ in range(2)]
    names = list(calls[0])
    return network, [tuple(call.values()) for call in calls], names, {"return_dict": False}


def inputs_of(name, network):
    if name in IMAGES:
        size = getattr(network.config, "image_size", 224)
        return {"pixel_values": torch.randn(1, 3, size, size)}
    if name in SOUNDS:
        return {"input_values": torch.randn(1, 16000)}
    ids = {"input_ids": torch.randint(3, 8000, (1, TOKENS))}
    if name == "whisper":
        return {"input_features": torch.randn(1, network.config.num_mel_bins, 3000), "decoder_input_ids": torch.randint(3, 8000, (1, 16))}
    if name in ("bart", "t5"):
        return {**ids, "decoder_input_ids": torch.randint(3, 8000, (1, 32))}
    return ids if name in ("fnet", "mamba") else {**ids, "attention_mask": torch.ones(1, TOKENS, dtype=torch.long)}


FAMILIES = {"timm": from_timm, "torchvision": from_torchvision, "transformers": from_transformers}


def main():
    folder, *names = sys.argv[1:]
    names = names or (HERE / "zoo.txt").read_text().split()
    torch.set_num_threads(1)

    def network(name):
        family, kind = name.split("/")
        return name.replace("/", "-"), lambda: FAMILIES[family](kind)

    exporting.export_all(folder, map(network, names))


if __name__ == "__main__":
    main()
