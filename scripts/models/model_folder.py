"""What the scripts of this folder share: a network with weights from a hub, a folder, or at random; its program; calls with what PyTorch gives for them.

A script writes OUT/NAME, which `ptlite serve OUT` serves:

    1/model.pt2             or encoder.pt2 and decoder.pt2
    config.json             for the server, where it needs one
    tokenizer.json, ...     without --from one whose tokens are bytes
    calls/model-0/          input-0.npy, ... and output-0.npy, ... of a call, for check.mjs and measure.mjs
"""
import argparse
import json
import os
import shutil

import numpy
import torch

try:
    import torchvision
except ImportError:
    pass
except RuntimeError:
    # one whose compiled part does not fit this PyTorch: transformers imports it, and it names operators that nobody has declared
    for name in ("nms", "qnms"):
        torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
import transformers


def arguments(description, names):
    """The command line: OUT, --like NAME for sizes, --from for weights."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("out", help="folder, in which each model gets one of its name")
    parser.add_argument("--like", choices=names, default=names[0], help="sizes of a network with random weights")
    parser.add_argument("--from", dest="source", metavar="REPOSITORY", help="weights, tokenizer and sizes of a repository of Hugging Face, or of a folder with its files")
    parser.add_argument("--name", help="what the model is called: what --like or --from say without it")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32", help="of weights")
    return parser


class Model:
    """The folder of a model; without one, where what is made of a network has folders of its own."""

    def __init__(self, options, is_folder=True):
        self.options = options
        self.name = options.name or (options.source.rstrip("/").split("/")[-1].lower() if options.source else options.like)
        self.folder = os.path.join(options.out, self.name)
        if not is_folder:
            return
        shutil.rmtree(os.path.join(self.folder, "calls"), ignore_errors=True)
        os.makedirs(os.path.join(self.folder, "1"), exist_ok=True)

    def network(self, kind, config, **settings):
        """`kind` is an Auto class of transformers or a class of networks, `config` makes the sizes for random weights."""
        dtype = getattr(torch, self.options.dtype)
        if self.options.source:
            return kind.from_pretrained(self.options.source, dtype=dtype, **settings).eval()
        torch.manual_seed(0)
        make = getattr(kind, "from_config", kind)
        return spread(make(config, **settings)).eval().to(dtype)

    def keep_tokenizer(self, size, special=None, end=None, **settings):
        """With --from what lies beside the weights for those that make tokens, else a tokenizer of bytes: `special` and `settings` are those of `bytes_tokenizer`."""
        if self.options.source:
            transformers.AutoTokenizer.from_pretrained(self.options.source).save_pretrained(self.folder)
            return
        self.keep_json("tokenizer.json", bytes_tokenizer(size, special or {}, end))
        self.keep_json("tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **settings})

    def keep_json(self, name, values):
        with open(os.path.join(self.folder, name), "w") as file:
            json.dump(values, file, indent=2)

    def save(self, program, name="model"):
        path = os.path.join(self.folder, "1", f"{name}.pt2")
        torch.export.save(program, path)
        print(path, f"{os.path.getsize(path) / 1e6:.1f} MB")

    def keep_calls(self, network, calls, name="model"):
        """Arguments and PyTorch's results, tensors in the order of the program."""
        for i, call in enumerate(calls):
            folder = os.path.join(self.folder, "calls", f"{name}-{i}")
            os.makedirs(folder)
            with torch.no_grad():
                results = tensors_of(network(**call))
            for kind, tensors in (("input", tensors_of(call)), ("output", results)):
                for k, tensor in enumerate(tensors):
                    numpy.save(os.path.join(folder, f"{kind}-{k}.npy"), plain(tensor))


def bytes_tokenizer(size, special, end=None):
    """The contents of a tokenizer.json for random weights: a token is a byte, those up to `size` are words that no text is divided into. `special` has texts of special tokens by their numbers;
    `end` is the one that each text ends with."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    # bytes that are no letters are written as letters behind the first 256, as GPT-2's tokenizer does
    others = [byte for byte in range(256) if byte not in own]
    letters = [chr(byte) for byte in own] + [chr(256 + i) for i in range(len(others))]
    texts = [special.get(i) or (letters[i] if i < len(letters) else f"\u0120w{i}") for i in range(size)]
    added = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for i, text in special.items()]
    levels = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    text, mark = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": special.get(end), "type_id": 0}}
    ending = {"type": "TemplateProcessing", "single": [text, mark], "pair": [text, text, mark], "special_tokens": {special.get(end): {"id": special.get(end), "ids": [end], "tokens": [special.get(end)]}}}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None, "pre_tokenizer": levels, "post_processor": None if end is None else ending, "decoder": levels,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "vocab": {text: i for i, text in enumerate(texts)}, "merges": []},
    }  # fmt: skip


def spread(network):
    """Biases and factors that begin as zeros or ones say little of what was computed; they get values of their own."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() <= 1:
                weight.add_(torch.randn(weight.shape, generator=generator) * 0.1)
    return network


def settled(network, *values):
    """Batch normalization with the statistics of a call: random layers would otherwise fade or grow, one after the other."""
    norms = [layer for layer in network.modules() if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm)]
    network.eval()
    for norm in norms:
        norm.train()
        norm.momentum = 1.0
    with torch.no_grad():
        network(*values)
    return network.eval()


def balanced(network, *values, linear=False):
    """Random convolutions, with `linear` linear layers too, each scaled so that what it gives in a call has a variance of 1: through many layers numbers would fade, and the last one would give the same everywhere."""
    seen = set()

    def scale(layer, _, output):
        if layer in seen:
            return output
        seen.add(layer)
        factor = 1 / output.std().clamp(min=1e-12)
        layer.weight.mul_(factor)
        if layer.bias is not None:
            layer.bias.mul_(factor)
        return output * factor

    kinds = (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, *((torch.nn.Linear,) if linear else ()))
    hooks = [layer.register_forward_hook(scale) for layer in network.modules() if isinstance(layer, kinds)]
    with torch.no_grad():
        network(*values)
    for hook in hooks:
        hook.remove()
    return network


def mixed(network):
    """Random layers that weigh more than the embedding, and attention that looks at some tokens more than at others, where queries are normalized: a language model would only repeat its last token."""
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if name.endswith("q_norm.weight"):
                weight.add_(3)
        for layer in network.modules():
            if isinstance(layer, torch.nn.Linear) and layer is not network.get_output_embeddings():
                layer.weight.mul_(3)
    return network


def tensors_of(value):
    """All tensors of a value, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for item in value for tensor in tensors_of(item)] if isinstance(value, (list, tuple)) else []


def plain(tensor):
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).detach().contiguous().numpy()
