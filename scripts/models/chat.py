"""Exports a language model with its keys and values in buffers, for chats: python chat.py OUT [--like NAME | --from REPOSITORY] [--room 2048]

Layers that see a window of the last tokens keep twice as many, in a ring. Keeps logits of a few tokens, and 32 tokens that PyTorch generates behind 128 others, and behind more than a ring keeps,
for check.mjs.
"""
# first: where torchvision's compiled part does not load, it declares the operators that transformers' imports name
from model_folder import Model, arguments, mixed

import torch
from torch.export import Dim
from transformers import AutoModelForCausalLM, Gemma2Config, Gemma3TextConfig, GenerationConfig, LlamaConfig, Qwen3Config
from transformers.cache_utils import StaticLayer
from transformers.integrations.executorch import TorchExportableModuleWithStaticCache


def gemma3(width, inner, layers):
    """Version 3, of texts alone: five layers of six see 512 tokens back."""
    return lambda: Gemma3TextConfig(
        vocab_size=262144, hidden_size=width, intermediate_size=inner, num_hidden_layers=layers, num_attention_heads=4, num_key_value_heads=1, head_dim=256,
        max_position_embeddings=32768, sliding_window=512,
    )  # fmt: skip


TINY = dict(
    vocab_size=400, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=8, max_position_embeddings=512, query_pre_attn_scalar=8,
    sliding_window=8,
)  # fmt: skip
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
    "gemma3-270m": gemma3(640, 2048, 18),
    "gemma3-1b": gemma3(1152, 6912, 26),
    # the published sizes of version 2 are the defaults
    "gemma2-2b": Gemma2Config,
    "gemma3-tiny": lambda: Gemma3TextConfig(**TINY, layer_types=["sliding_attention", "full_attention", "sliding_attention"]),
    "gemma2-tiny": lambda: Gemma2Config(**TINY, layer_types=["sliding_attention", "full_attention", "sliding_attention"]),
}


class Ring(StaticLayer):
    """Keys and values of a layer that sees `window` tokens: of the last `2 x window`, the token of place p in entry p % (2 x window).

    Calls may have up to `window` tokens: each of them finds the whole window before it, though those behind it are written by then.
    """

    is_sliding = True

    def __init__(self, window):
        super().__init__(2 * window)

    def update(self, key_states, value_states, *args, **kwargs):
        count = key_states.shape[-2]
        entries = (torch.arange(count) + self.cumulative_length) % self.max_cache_len
        self.cumulative_length.add_(count)
        self.keys.index_copy_(2, entries, key_states)
        self.values.index_copy_(2, entries, value_states)
        return self.keys, self.values

    def get_mask_sizes(self, query_length):
        """The number of entries, and what is added to the number of each so that it is the place of its token. Those that nothing was written to are as if they came later."""
        entries, last = torch.arange(self.max_cache_len), self.cumulative_length + query_length - 1
        return self.max_cache_len, torch.where(entries > last, 0, (last - entries) // self.max_cache_len * self.max_cache_len)


def ring_of(config, room):
    """What rings keep, or 0, where nothing is gained: no layer has a window, or all have, and the largest cache is what a conversation has room for."""
    types = getattr(config, "layer_types", None) or []
    is_mixed = "sliding_attention" in types and "full_attention" in types
    return 2 * config.sliding_window if is_mixed and 2 * config.sliding_window < room else 0


def exported(network, room):
    """A program of `input_ids` and `cache_position`, of any number of tokens a call, that keeps up to `room`."""
    network.generation_config = GenerationConfig(use_cache=True, cache_implementation="static", cache_config={"batch_size": 1, "max_cache_len": room})
    module, ring = TorchExportableModuleWithStaticCache(network), ring_of(network.config, room)
    layers = module.static_cache.layers
    for i, whole in enumerate(layers if ring else []):
        if network.config.layer_types[i] == "sliding_attention":
            layers[i] = Ring(network.config.sliding_window)
            layers[i].lazy_initialization(whole.keys, whole.values)
            for name, buffer in (("key_cache", layers[i].keys), ("value_cache", layers[i].values), ("cumulative_length", layers[i].cumulative_length)):
                setattr(module, f"{name}_{i}", buffer)
    length = Dim("length", max=min(room - 1, ring // 2 or room))
    return torch.export.export(
        module,
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
    if getattr(network.config, "attn_logit_softcapping", None):
        # which only attention in single steps has
        network.set_attn_implementation("eager")
    if not options.source:
        mixed(network)
    ring = ring_of(network.config, options.room)
    lengths = [128, min(128 + ring, options.room - 32)] if ring else [128]
    prompt = torch.randint(10, network.config.vocab_size, (1, max(lengths)), generator=torch.Generator().manual_seed(2))
    prompts = [prompt[:, :length] for length in lengths]
    model.keep_json("tokens.json", [{"prompt": each[0].tolist(), "tokens": continued(network, each, 32)} for each in prompts])
    few = prompt[:, : min(16, ring // 2 or 16)]
    model.keep_calls(lambda input_ids, cache_position: network(input_ids).logits, [{"input_ids": few, "cache_position": torch.arange(few.shape[1])}])
    model.save(exported(network, options.room))
    model.keep_json("config.json", {"text": {}})
    # messages of made-up tokens: <|user|>, a text, <|end|>, and so on
    size = network.config.vocab_size
    special = {size - 3: "<|user|>", size - 2: "<|assistant|>", size - 1: "<|end|>"}
    template = "{% for message in messages %}{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    model.keep_tokenizer(size, special, eos_token="<|end|>", chat_template=template)


if __name__ == "__main__":
    main()
