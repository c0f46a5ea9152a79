"""Tiny language models of the architectures of transformers, exported with their caches, and the tokens that `generate` gives: with_caches.py FOLDER [TYPE ...]

For every TYPE: TYPE.cached.pt2 (keys and values in buffers, any number of tokens), TYPE.step.pt2 (the same, a token a call), TYPE.rows.pt2 (keys and values in and out, several sequences a call), or
TYPE.encoder.pt2 and TYPE.decoder.pt2, and TYPE.tokens.json. Where the package executorch is there, the same as TYPE.FORM.pte, of its portable operators, and TYPE.xnnpack.pte, with partitions of
XNNPACK; of llama also TYPE.places.pte, which takes tokens and the place of the first of them. TYPE@16 is TYPE with a window of 16 tokens,
in its first layer where an architecture has both.
"""
import copy
import json
import os
import sys

import torch
import from_transformers  # before transformers, for torchvision's operators
import transformers
from torch.export import Dim
from transformers import AutoModelForCausalLM, DynamicCache, GenerationConfig, T5Config, T5ForConditionalGeneration, WhisperConfig, WhisperForConditionalGeneration
from transformers.activations import GELUTanh
from transformers.integrations.executorch import (
    Seq2SeqLMDecoderExportableModuleWithStaticCache,
    Seq2SeqLMEncoderExportableModule,
    TorchExportableModuleWithStaticCache,
    register_dynamic_cache_export_support,
)

try:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
except ImportError:
    to_edge_transform_and_lower = None

VOCABULARY, TOKENS, ROOM, LENGTHS = 96, 64, 192, (1, 7, 100)
WHOLE = dict(max_position_embeddings=ROOM, n_positions=ROOM, sliding_window=ROOM, original_max_position_embeddings=ROOM, initializer_range=0.3, pad_token_id=0, tie_word_embeddings=False)
DECODERS = (
    *("llama", "qwen2", "qwen3", "qwen3_moe", "smollm3", "gemma", "gemma2", "gemma3_text", "phi3", "mistral"),
    *("ministral3", "olmo2", "granite", "exaone4", "gpt_oss", "gpt2"),
)


def seeded(kind, make):
    torch.manual_seed(sum(map(ord, kind)))
    model = make().eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            # what begins as ones, zeros or very small says little of what was computed
            if weight.dim() == 1 or weight.std() < 0.05:
                weight.add_(torch.randn(weight.shape, generator=generator) * 0.2)
    return model


def prompts():
    return [torch.randint(3, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(length)) for length in LENGTHS]


def continued(model, prompt, **options):
    model.generation_config = GenerationConfig(eos_token_id=None, pad_token_id=0)
    with torch.no_grad():
        return model.generate(prompt, max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False, **options)[0].tolist()


def save(stem, program):
    torch.export.save(program, f"{stem}.pt2")


def save_pte(stem, module, arguments, shapes, delegate=False):
    """`strict`, as transformers exports for ExecuTorch: caches are buffers that change, where they are else constants."""
    if to_edge_transform_and_lower is None:
        return
    try:
        with torch.no_grad():
            program = torch.export.export(module, (), arguments, dynamic_shapes=shapes, strict=True)
            # what the check lacks may still be a portable operator
            config = EdgeCompileConfig(_check_ir_validity=False)
            lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()] if delegate else [], compile_config=config).to_executorch()
        with open(f"{stem}.pte", "wb") as file:
            file.write(lowered.buffer)
    except Exception as error:
        print("no pte", os.path.basename(stem), type(error).__name__, str(error).strip().split("\n")[0][:160], flush=True)


class Places(torch.nn.Module):
    """With the arguments of ExecuTorch's own language models."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, tokens, input_pos):
        return self.module(input_ids=tokens, cache_position=input_pos + torch.arange(tokens.shape[1]))


def decoder_only(folder, name):
    kind, _, window = name.partition("@")
    settings = from_transformers.SPECIAL.get(kind, {})
    windows = {"sliding_window": int(window)} if window else {}
    if window and getattr(transformers.CONFIG_MAPPING[kind](), "layer_types", None) is not None:
        windows["layer_types"] = ["sliding_attention", "full_attention"]
    from_transformers.SPECIAL[kind] = {**settings, **WHOLE, **windows}
    config = from_transformers.tiny(kind)
    from_transformers.SPECIAL[kind] = settings
    model = seeded(kind, lambda: AutoModelForCausalLM.from_config(config).float())
    cases = [{"prompt": p[0].tolist(), "tokens": continued(model, p)[p.shape[1] :]} for p in prompts()]
    exact = with_exact_gelu(model)
    for case, p in zip(cases, prompts() if exact is not None else ()):
        case["xnnpack"] = continued(exact, p)[p.shape[1] :]
    model.generation_config = GenerationConfig(use_cache=True, cache_implementation="static", cache_config={"batch_size": 1, "max_cache_len": ROOM}, eos_token_id=None)
    stem = f"{folder}/{name}"
    for form, length, dim in (("cached", 3, Dim("s", max=ROOM - 1)), ("step", 1, None)):
        arguments = {"input_ids": torch.zeros(1, length, dtype=torch.long), "cache_position": torch.arange(length)}
        shapes = {"input_ids": {1: dim}, "cache_position": {0: dim}} if dim else None
        make = lambda: TorchExportableModuleWithStaticCache(model)
        save(f"{stem}.{form}", torch.export.export(make(), (), arguments, dynamic_shapes=shapes))
    try:
        rows(stem, model, config)
    except Exception as error:
        print("no rows", name, str(error).strip().split("\n")[0][:160], flush=True)
    # grouped products of experts are no operators of ExecuTorch
    if hasattr(config, "num_experts") or hasattr(config, "num_local_experts"):
        model.set_experts_implementation("batched_mm")
    for form, length, dim in (("cached", 3, Dim("s", max=ROOM - 1)), ("step", 1, None)):
        arguments = {"input_ids": torch.zeros(1, length, dtype=torch.long), "cache_position": torch.arange(length)}
        shapes = {"input_ids": {1: dim}, "cache_position": {0: dim}} if dim else None
        save_pte(f"{stem}.{form}", make(), arguments, shapes)
        if form == "cached":
            save_pte(f"{stem}.xnnpack", make(), arguments, shapes, delegate=True)
    if kind == "llama":
        arguments = {"tokens": torch.zeros(1, 3, dtype=torch.long), "input_pos": torch.zeros(1, dtype=torch.long)}
        save_pte(f"{stem}.places", Places(make()), arguments, {"tokens": {1: Dim("s", max=ROOM - 1)}, "input_pos": None})
    return cases


def with_exact_gelu(model):
    """What ExecuTorch makes of a model for XNNPACK: its partitions have one GELU, the exact one, and take others for it. None where the model has no others."""
    model = copy.deepcopy(model)
    found = [(parent, name) for parent in model.modules() for name, child in parent.named_children() if isinstance(child, GELUTanh)]
    for parent, name in found:
        setattr(parent, name, torch.nn.GELU())
    return model if found else None


def rows(stem, model, config):
    """Several sequences a call: keys and values in and out, a mask that says where each begins."""
    b, s, p = Dim("b", max=64), Dim("s", max=ROOM), Dim("p", max=ROOM - 1)
    config = model.config
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    layers = config.num_hidden_layers
    past = DynamicCache([(torch.randn(2, heads, 5, size), torch.randn(2, heads, 5, size)) for _ in range(layers)])
    ids = torch.zeros(2, 3, dtype=torch.long)
    arguments = {"input_ids": ids, "attention_mask": torch.ones(2, 8, dtype=torch.long), "position_ids": ids + torch.arange(5, 8), "past_key_values": past}
    pair = [{0: b, 2: p}] * layers
    shapes = {"input_ids": {0: b, 1: s}, "attention_mask": {0: b, 1: Dim.AUTO}, "position_ids": {0: b, 1: s}, "past_key_values": [pair, pair]}
    with torch.no_grad():
        save(f"{stem}.rows", torch.export.export(model, (), arguments, dynamic_shapes=shapes, strict=False))


def t5(folder, kind):
    sizes = dict(vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, relative_attention_num_buckets=8)
    model = seeded(kind, lambda: T5ForConditionalGeneration(T5Config(**sizes, initializer_factor=3.0, tie_word_embeddings=False, eos_token_id=None, pad_token_id=0, decoder_start_token_id=0)))
    cases = [{"prompt": p[0].tolist(), "tokens": continued(model, p, decoder_start_token_id=0)[1:]} for p in prompts()]
    encoder = Seq2SeqLMEncoderExportableModule(model.get_encoder()).eval()
    ids, shapes = torch.zeros(1, 10, dtype=torch.long), {"input_ids": {1: Dim("e", max=128)}}
    save(f"{folder}/{kind}.encoder", torch.export.export(encoder, (ids,), dynamic_shapes=shapes))
    save_pte(f"{folder}/{kind}.encoder", encoder, {"input_ids": ids}, shapes)
    decoder(folder, kind, model, Dim("e", max=128), 32)
    return cases


class Sound(torch.nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, input_features):
        return self.encoder(input_features=input_features).last_hidden_state


def whisper(folder, kind):
    sizes = dict(vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48)
    ends = dict(eos_token_id=None, bos_token_id=None, pad_token_id=0, decoder_start_token_id=3, suppress_tokens=None, begin_suppress_tokens=None)
    model = seeded(kind, lambda: WhisperForConditionalGeneration(WhisperConfig(**sizes, **ends, num_mel_bins=16, max_source_positions=50, max_target_positions=ROOM, init_std=0.3)))
    features = torch.randn(1, 16, 100, generator=torch.Generator().manual_seed(5))
    cases = []
    for prompt in prompts():
        model.generation_config = GenerationConfig(eos_token_id=None, pad_token_id=0, decoder_start_token_id=3)
        with torch.no_grad():
            # its own generate() is of windows and timestamps, which transcribe() has
            found = transformers.GenerationMixin.generate(model, features, decoder_input_ids=prompt, max_new_tokens=TOKENS, do_sample=False)[0].tolist()
        cases.append({"prompt": prompt[0].tolist(), "tokens": found[prompt.shape[1] :], "features": features[0].tolist()})
    sound = Sound(model.get_encoder()).eval()
    save(f"{folder}/{kind}.encoder", torch.export.export(sound, (features,)))
    save_pte(f"{folder}/{kind}.encoder", sound, {"input_features": features}, None)
    model.lm_head = model.proj_out
    decoder(folder, kind, model, None, 32)
    return cases


def decoder(folder, kind, model, length, width):
    make = lambda: Seq2SeqLMDecoderExportableModuleWithStaticCache(model, ROOM, 1).eval()
    one, states = torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, 10 if length else 50, width)
    shapes = {"decoder_input_ids": None, "encoder_hidden_states": {1: length} if length else None, "cache_position": None}
    arguments = {"decoder_input_ids": one, "encoder_hidden_states": states, "cache_position": torch.zeros(1, dtype=torch.long)}
    save(f"{folder}/{kind}.decoder", torch.export.export(make(), (), arguments, dynamic_shapes=shapes))
    save_pte(f"{folder}/{kind}.decoder", make(), arguments, shapes)


PAIRS = {"t5": t5, "whisper": whisper}


def main():
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    register_dynamic_cache_export_support()
    folder, *chosen = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for kind in chosen or (*DECODERS, *PAIRS):
        try:
            cases = PAIRS[kind](folder, kind) if kind in PAIRS else decoder_only(folder, kind)
        except Exception as error:
            print("not exportable", kind, type(error).__name__, str(error).strip().split("\n")[0][:300], flush=True)
            continue
        with open(f"{folder}/{kind}.tokens.json", "w") as file:
            json.dump(cases, file)
        print("exported", kind, [len(set(case["tokens"])) for case in cases], flush=True)


if __name__ == "__main__":
    main()
