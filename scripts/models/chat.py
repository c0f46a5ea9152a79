"""Exports a language model with its keys and values in buffers, for chats: python chat.py OUT [--like NAME | --from REPOSITORY] [--room 2048]

Keeps logits of 16 tokens, and 32 tokens that PyTorch generates behind 128 others, for check.mjs.
"""
import torch
from torch.export import Dim
from transformers import AutoModelForCausalLM, GenerationConfig, LlamaConfig, Qwen3Config
from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

from model_folder import Model, arguments, mixed

SIZES = {
    "smollm2-135m": lambda: LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3,
        max_position_embeddings=8192, rope_theta=100000.0, tie_word_embeddings=True,
    ),
    "smollm2-360m": lambda: LlamaConfig(
        vocab_size=49152, hidden_size=960, intermediate_size=2560, num_hidden_layers=32, num_attention_heads=15, num_key_value_heads=5,
        max_position_embeddings=8192, rope_theta=100000.0, tie_word_embeddings=True,
    ),
    "qwen3-0.6b": lambda: Qwen3Config(
        vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8,
        head_dim=128, max_position_embeddings=40960, rope_theta=1000000.0, tie_word_embeddings=True,
    ),
    "llama-3.2-1b": lambda: LlamaConfig(
        vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8,
        head_dim=64, max_position_embeddings=131072, rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_parameters={"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
    ),
}


def exported(network, room):
    """A program of `input_ids` and `cache_position`, of any number of tokens a call, that keeps up to `room`."""
    network.generation_config = GenerationConfig(use_cache=True, cache_implementation="static", cache_config={"batch_size": 1, "max_cache_len": room})
    length = Dim("length", max=room - 1)
    return torch.export.export(
        TorchExportableModuleWithStaticCache(network),
        (),
        {"input_ids": torch.zeros(1, 3, dtype=torch.long), "cache_position": torch.arange(3)},
        dynamic_shapes={"input_ids": {1: length}, "cache_position": {0: length}},
    )


def continued(network, prompt, count):
    network.generation_config = GenerationConfig(eos_token_id=None, pad_token_id=0)
    with torch.no_grad():
        return network.generate(prompt, max_new_tokens=count, min_new_tokens=count, do_sample=False)[0, prompt.shape[1] :].tolist()


def main(sizes=SIZES, description=__doc__):
    parser = arguments(description, list(sizes))
    parser.add_argument("--room", type=int, default=2048, help="tokens that the cache has room for")
    options = parser.parse_args()
    model = Model(options)
    network = model.network(AutoModelForCausalLM, None if options.source else sizes[options.like]())
    if not options.source:
        mixed(network)
    prompt = torch.randint(10, network.config.vocab_size, (1, 128), generator=torch.Generator().manual_seed(2))
    model.keep_json("tokens.json", {"prompt": prompt[0].tolist(), "tokens": continued(network, prompt, 32)})
    few = prompt[:, :16]
    model.keep_calls(lambda input_ids, cache_position: network(input_ids).logits, [{"input_ids": few, "cache_position": torch.arange(16)}])
    model.save(exported(network, options.room))
    model.keep_json("config.json", {"text": {}})
    model.keep_tokenizer()


if __name__ == "__main__":
    main()
