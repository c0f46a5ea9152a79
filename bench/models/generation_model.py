"""A language model with random weights, of SmolLM2-135M's sizes without options, in the forms that bench/generate.mjs takes.

python3 generation_model.py DIR [--layers 30] [--hidden 576] [--inner 1536] [--heads 9] [--key-heads 3] [--vocabulary 49152] [--room 512]

Writes DIR/lm-buffers.pt2 (transformers' static cache, in buffers), DIR/lm-rows.pt2 (a free batch, keys and values in and out) and, of the same weights, with the package gguf the files
of language_model.py for llama.cpp, and with onnx and onnxruntime DIR/onnx, a folder as transformers.js reads it: float32, and 8 and 4 bits by onnxruntime's MatMulNBits, with
the attention that onnxruntime has for such models (GroupQueryAttention). Needs PyTorch 2.13 and transformers.
"""
import argparse
import json
import pathlib

import torch
from torch.export import Dim
from transformers import DynamicCache, GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.integrations.executorch import TorchExportableModuleWithStaticCache, register_dynamic_cache_export_support

from language_model import LanguageModel, gguf_files

THETA, SIZE = 1e5, 64


def transformers_model(model, o):
    """The same weights as a Llama of transformers."""
    config = LlamaConfig(
        hidden_size=o.hidden, intermediate_size=o.inner, num_hidden_layers=o.layers, num_attention_heads=o.heads, num_key_value_heads=o.key_heads, vocab_size=o.vocabulary,
        max_position_embeddings=2048, rms_norm_eps=1e-5, tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": THETA}, attn_implementation="sdpa",
    )  # fmt: skip
    llama = LlamaForCausalLM(config).eval()
    weights = {"model.embed_tokens.weight": model.embedding.weight, "lm_head.weight": model.embedding.weight, "model.norm.weight": model.norm.weight}
    for i, layer in enumerate(model.layers):
        names = {"self_attn.q_proj": layer.q, "self_attn.k_proj": layer.k, "self_attn.v_proj": layer.v, "self_attn.o_proj": layer.o}
        names |= {"mlp.gate_proj": layer.gate, "mlp.up_proj": layer.up, "mlp.down_proj": layer.down}
        names |= {"input_layernorm": layer.input_norm, "post_attention_layernorm": layer.inner_norm}
        weights |= {f"model.layers.{i}.{name}.weight": part.weight for name, part in names.items()}
    llama.load_state_dict(weights)
    return llama


def export_buffers(llama, o, path):
    llama.generation_config = GenerationConfig(use_cache=True, cache_implementation="static", cache_config={"batch_size": 1, "max_cache_len": o.room})
    length = Dim("length", max=o.room - 1)
    program = torch.export.export(
        TorchExportableModuleWithStaticCache(llama), (), {"input_ids": torch.zeros(1, 3, dtype=torch.long), "cache_position": torch.arange(3)},
        dynamic_shapes={"input_ids": {1: length}, "cache_position": {0: length}},
    )  # fmt: skip
    torch.export.save(program, path)


def export_rows(llama, o, path):
    register_dynamic_cache_export_support()
    llama.generation_config = GenerationConfig(use_cache=True)
    past = DynamicCache([(torch.zeros(2, o.key_heads, 5, SIZE), torch.zeros(2, o.key_heads, 5, SIZE)) for _ in range(o.layers)])
    ids = torch.zeros(2, 3, dtype=torch.long)
    rows, length, before = Dim("rows", max=64), Dim("length", max=o.room), Dim("before", max=o.room - 1)
    pairs = [{0: rows, 2: before}] * o.layers
    program = torch.export.export(
        llama, (), {"input_ids": ids, "attention_mask": torch.ones(2, 8, dtype=torch.long), "position_ids": ids + torch.arange(5, 8), "past_key_values": past},
        dynamic_shapes={"input_ids": {0: rows, 1: length}, "attention_mask": {0: rows, 1: Dim.AUTO}, "position_ids": {0: rows, 1: length}, "past_key_values": [pairs, pairs]},
        strict=False,
    )  # fmt: skip
    torch.export.save(program, path)


def onnx_graph(model, o):
    """The network with the operators that onnxruntime has for language models, in float32."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    weights, nodes = [], []

    def weight(name, data):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(data), name))
        return name

    def node(kind, inputs, outputs, **attributes):
        domain = {"GroupQueryAttention": "com.microsoft", "SkipSimplifiedLayerNormalization": "com.microsoft"}.get(kind, "")
        nodes.append(helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **attributes))
        return outputs[0]

    def linear(x, layer, name):
        return node("MatMul", [x, weight(f"{name}.weight", layer.detach().numpy().T)], [name])

    norm = {"epsilon": 1e-5}
    angles = torch.arange(2048).float()[:, None] * model.frequencies
    cos, sin = weight("cos", angles.cos().numpy()), weight("sin", angles.sin().numpy())
    node("ReduceSum", ["attention_mask", weight("axis", np.array([1], np.int64))], ["kept"], keepdims=0)
    node("Sub", ["kept", weight("one", np.array(1, np.int64))], ["last"])
    node("Cast", ["last"], ["seqlens"], to=TensorProto.INT32)
    node("Shape", ["attention_mask"], ["mask_shape"])
    node("Gather", ["mask_shape", weight("second", np.array(1, np.int64))], ["mask_length"])
    node("Cast", ["mask_length"], ["total"], to=TensorProto.INT32)
    x = node("Gather", [weight("embedding", model.embedding.weight.detach().numpy()), "input_ids"], ["embedded"])
    values = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch_size", length]) for name, length in (("input_ids", "sequence_length"), ("attention_mask", "total_sequence_length"))]
    outputs = [values("logits", ["batch_size", "sequence_length", o.vocabulary])]
    y = node("SimplifiedLayerNormalization", [x, weight("first_norm", model.layers[0].input_norm.weight.detach().numpy())], ["first_normed"], axis=-1, **norm)
    for i, layer in enumerate(model.layers):
        q, k, v = (linear(y, getattr(layer, part).weight, f"l{i}.{part}") for part in "qkv")
        pasts, presents = ([f"{when}.{i}.{what}" for what in ("key", "value")] for when in ("past_key_values", "present"))
        inputs += [values(name, ["batch_size", o.key_heads, "past_sequence_length", SIZE]) for name in pasts]
        outputs += [values(name, ["batch_size", o.key_heads, "total_sequence_length", SIZE]) for name in presents]
        attention = [f"l{i}.attention", *presents]
        node("GroupQueryAttention", [q, k, v, *pasts, "seqlens", "total", cos, sin], attention, num_heads=o.heads, kv_num_heads=o.key_heads, do_rotary=1, rotary_interleaved=0)
        y = linear(attention[0], layer.o.weight, f"l{i}.o")
        normed = [f"l{i}.normed", "", "", f"l{i}.sum"]
        node("SkipSimplifiedLayerNormalization", [x, y, weight(f"l{i}.inner_norm", layer.inner_norm.weight.detach().numpy())], normed, **norm)
        gate, up = linear(normed[0], layer.gate.weight, f"l{i}.gate"), linear(normed[0], layer.up.weight, f"l{i}.up")
        node("Sigmoid", [gate], [f"l{i}.sigmoid"])
        node("Mul", [gate, f"l{i}.sigmoid"], [f"l{i}.silu"])
        node("Mul", [f"l{i}.silu", up], [f"l{i}.inner"])
        y = linear(f"l{i}.inner", layer.down.weight, f"l{i}.down")
        following = model.layers[i + 1].input_norm if i + 1 < o.layers else model.norm
        after = [f"l{i}.after", "", "", f"l{i}.out"]
        node("SkipSimplifiedLayerNormalization", [f"l{i}.sum", y, weight(f"l{i}.next_norm", following.weight.detach().numpy())], after, **norm)
        x, y = after[3], after[0]
    nodes.append(helper.make_node("MatMul", [y, weight("head.weight", model.embedding.weight.detach().numpy().T)], ["logits"], name="head"))
    graph = helper.make_graph(nodes, "lm", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)


def onnx_folder(model, llama, o, folder):
    import onnx
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**llama.config.to_dict(), "model_type": "llama", "rope_theta": THETA}, default=str))
    (folder / "generation_config.json").write_text("{}")
    onnx.save(onnx_graph(model, o), folder / "onnx" / "model.onnx")
    for name, bits in (("quantized", 8), ("q4", 4)):
        # accuracy_level 4: activations are rounded to int8, as llama.cpp does it
        config = DefaultWeightOnlyQuantConfig(block_size=32, is_symmetric=True, accuracy_level=4, bits=bits)
        quantizer = MatMulNBitsQuantizer(onnx_graph(model, o), algo_config=config)
        quantizer.process()
        onnx.save(quantizer.model.model, folder / "onnx" / f"model_{name}.onnx")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    sizes = {"layers": 30, "hidden": 576, "inner": 1536, "heads": 9, "key-heads": 3, "vocabulary": 49152, "room": 512}
    for name, value in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    o = parser.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model = LanguageModel(o).eval()
    llama = transformers_model(model, o)
    with torch.no_grad():
        export_buffers(llama, o, o.folder / "lm-buffers.pt2")
        export_rows(llama, o, o.folder / "lm-rows.pt2")
    for what, make in (("gguf", lambda: gguf_files(model, o, o.folder)), ("onnx and onnxruntime", lambda: onnx_folder(model, llama, o, o.folder / "onnx"))):
        try:
            make()
        except ImportError as error:
            print(f"without {what} there are no files for its peer: {error}")


if __name__ == "__main__":
    main()
