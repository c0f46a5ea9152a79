"""What the scripts of this folder share: a network with weights from a hub, a folder, or at random; its program; calls with what PyTorch gives for them.

A script writes OUT/NAME, which `ptlite serve OUT` serves:

    1/model.pt2             or encoder.pt2 and decoder.pt2
    config.json             for the server, where it needs one
    tokenizer.json, ...     with --from
    calls/model-0/          input-0.npy, ... and output-0.npy, ... of a call, for check.mjs and measure.mjs
"""
import argparse
import json
import os
import shutil

import numpy
import torch
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
    """The folder of a model."""

    def __init__(self, options):
        self.options = options
        self.name = options.name or (options.source.rstrip("/").split("/")[-1].lower() if options.source else options.like)
        self.folder = os.path.join(options.out, self.name)
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

    def keep_tokenizer(self):
        """With --from: what lies beside the weights for those that make tokens."""
        if self.options.source:
            transformers.AutoTokenizer.from_pretrained(self.options.source).save_pretrained(self.folder)

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


def spread(network):
    """Biases and factors that begin as zeros or ones say little of what was computed; they get values of their own."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() <= 1:
                weight.add_(torch.randn(weight.shape, generator=generator) * 0.1)
    return network


def mixed(network):
    """Random layers that weigh more than the embedding: a language model would only repeat its last token."""
    with torch.no_grad():
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
