"""Networks as .pt2 and .pte for bench/pte.mjs: export_pte.py FOLDER [NAME ...].

NAME.pt2, NAME.portable.pte and NAME.xnnpack.pte, weights at random; of MobileNetV2 the int8 network of PT2E, too. Needs PyTorch 2.13 with timm and transformers, and pytorch/executorch (1.5)
as the package `executorch` and pytorch/ao on PYTHONPATH, as test/fixtures/make_pte.py does.
"""
import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

TIMM = {
    "mobilenet_v2": "mobilenetv2_100",
    "mobilenet_v3_small": "mobilenetv3_small_100",
    "resnet18": "resnet18",
    "vit_tiny": "vit_tiny_patch16_224",
}


def network(name):
    if name == "bert_layer":
        # ExecuTorch has no kernel for the operator that PyTorch fuses the layer to
        torch.backends.mha.set_fastpath_enabled(False)
        layer = nn.TransformerEncoderLayer(768, 12, 3072, activation="gelu", batch_first=True)
        return layer.eval(), (torch.randn(1, 128, 768),)
    if name == "llama_step":
        return llama_step()
    import timm

    return timm.create_model(TIMM[name], pretrained=False).eval(), (torch.randn(1, 3, 224, 224),)


def llama_step():
    """One token of a language model of six layers, whose cache of 256 positions is in buffers."""
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
    from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

    config = LlamaConfig(
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=6,
        num_attention_heads=9,
        num_key_value_heads=3,
        vocab_size=8192,
        max_position_embeddings=256,
        attn_implementation="sdpa",
    )
    model = LlamaForCausalLM(config).eval()
    cache = {"batch_size": 1, "max_cache_len": 256, "device": "cpu"}
    model.generation_config = GenerationConfig(use_cache=True, cache_implementation="static", max_length=256, cache_config=cache)
    step = TorchExportableModuleWithStaticCache(model)
    return step, (torch.ones(1, 1, dtype=torch.long), None, torch.zeros(1, dtype=torch.long))


def declare_out(name):
    """The variant of an operator of quantized_decomposed that exir wants, whose C++ is not at hand."""
    operator = getattr(torch.ops.quantized_decomposed, name).default
    arguments = str(operator._schema).split("(", 1)[1].rsplit(") ->", 1)[0]
    library = torch.library.Library("quantized_decomposed", "FRAGMENT")
    library.define(f"{name}.out({arguments}, {'' if '*' in arguments else '*, '}Tensor(a!) out) -> Tensor(a!)")
    library.impl(f"{name}.out", lambda *args, out, **named: out.copy_(operator(*args, **named)), "CompositeExplicitAutograd")
    return library


def write(path, model, inputs):
    program = lambda: torch.export.export(model, inputs, strict=True)
    torch.export.save(program(), f"{path}.pt2")
    for kind, partitioner in (("portable", []), ("xnnpack", [XnnpackPartitioner()])):
        edge = to_edge_transform_and_lower(program(), compile_config=EdgeCompileConfig(_check_ir_validity=False), partitioner=partitioner)
        with open(f"{path}.{kind}.pte", "wb") as file:
            file.write(edge.to_executorch().buffer)


def main(folder, *names):
    for name in names or (*TIMM, "bert_layer", "llama_step"):
        torch.manual_seed(0)
        model, inputs = network(name)
        write(f"{folder}/{name}", model, inputs)
        if name != "mobilenet_v2":
            continue
        quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
        prepared = prepare_pt2e(torch.export.export(model, inputs, strict=True).module(), quantizer)
        prepared(*inputs)
        libraries = [declare_out(n) for n in ("quantize_per_tensor", "dequantize_per_tensor", "dequantize_per_channel")]
        write(f"{folder}/{name}_int8", convert_pt2e(prepared), inputs)
        del libraries


with torch.no_grad():
    main(*sys.argv[1:])
