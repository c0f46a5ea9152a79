"""Exports Whisper as an encoder and a decoder: python whisper.py OUT [--like NAME | --from REPOSITORY] [--words]

The encoder computes keys and values of cross-attention, once for a window, and the decoder takes them, with any number of tokens; its own are in buffers.
"""
import inspect

# first: where torchvision's compiled part does not load, it declares the operators that transformers' imports name
from model_folder import Model, arguments, mixed

import torch
import transformers
from torch.export import Dim
from transformers import AutoModelForSpeechSeq2Seq, GenerationConfig, WhisperConfig
from transformers.cache_utils import DynamicCache, EncoderDecoderCache, StaticCache
from transformers.integrations.executorch import register_dynamic_cache_export_support


def sizes(width, layers, heads):
    each = dict(encoder_layers=layers, decoder_layers=layers, encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width)
    return lambda: WhisperConfig(d_model=width, decoder_start_token_id=50258, bos_token_id=50257, eos_token_id=50257, pad_token_id=50257, **each)


# of several languages, of which made-up tokenizers know one
SPECIAL = {
    50257: "<|endoftext|>", 50258: "<|startoftranscript|>", 50259: "<|en|>", 50358: "<|translate|>", 50359: "<|transcribe|>", 50361: "<|startofprev|>", 50362: "<|nospeech|>", 50363: "<|notimestamps|>",
    **{50364 + i: f"<|{i / 50:.2f}|>" for i in range(1501)},
}  # fmt: skip
GENERATION = {
    "decoder_start_token_id": 50258, "eos_token_id": 50257, "no_timestamps_token_id": 50363, "prev_sot_token_id": 50361, "is_multilingual": True, "lang_to_id": {"<|en|>": 50259},
    "task_to_id": {"transcribe": 50359, "translate": 50358}, "max_initial_timestamp_index": 50, "max_length": 448,
}  # fmt: skip
SIZES = {"whisper-tiny": sizes(384, 4, 6), "whisper-base": sizes(512, 6, 8), "whisper-small": sizes(768, 12, 12)}


class Encoder(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.encoder = network.get_encoder()
        # not the decoder as a whole, whose weights would be in the file, too
        self.attentions = torch.nn.ModuleList(layer.encoder_attn for layer in network.get_decoder().layers)

    def forward(self, input_features):
        states = self.encoder(input_features).last_hidden_state
        found = {"last_hidden_state": states}
        for i, attention in enumerate(self.attentions):
            split = lambda x: x.view(1, -1, attention.num_heads, attention.head_dim).transpose(1, 2)
            found[f"cross_key_{i}"], found[f"cross_value_{i}"] = split(attention.k_proj(states)), split(attention.v_proj(states))
        return found


class Decoder(torch.nn.Module):
    def __init__(self, network, words):
        super().__init__()
        self.decoder, self.proj_out, self.words, config = network.get_decoder(), network.proj_out, words, network.config
        self.layers = config.decoder_layers
        heads = config.decoder_attention_heads
        self.cache = StaticCache(config=config, max_cache_len=config.max_target_positions)
        self.cache.early_initialization(1, heads, config.d_model // heads, torch.float32, "cpu")
        for i, layer in enumerate(self.cache.layers):
            self.register_buffer(f"key_cache_{i}", layer.keys, persistent=False)
            self.register_buffer(f"value_cache_{i}", layer.values, persistent=False)
            self.register_buffer(f"cumulative_length_{i}", layer.cumulative_length, persistent=False)

    def forward(self, decoder_input_ids, cache_position, **cross):
        for layer in self.cache.layers:
            layer.cumulative_length.copy_(cache_position[0])
        pairs = [(cross[f"cross_key_{i}"], cross[f"cross_value_{i}"]) for i in range(self.layers)]
        cache = EncoderDecoderCache(self.cache, DynamicCache(pairs))
        cache.is_updated = {i: True for i in range(self.layers)}
        # their sizes are looked at, their values are in the cache
        states = pairs[0][0].transpose(1, 2).flatten(2)
        out = self.decoder(input_ids=decoder_input_ids, encoder_hidden_states=states, past_key_values=cache, use_cache=True, output_attentions=self.words)
        found = {"logits": self.proj_out(out.last_hidden_state)}
        return {**found, "cross_attentions": list(out.cross_attentions)} if self.words else found


def named(kind, call):
    """Dynamic shapes are given by names of parameters, which `**cross` has not."""
    names = ["self", *call]
    kind.forward.__signature__ = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def main():
    parser = arguments(__doc__, list(SIZES))
    parser.add_argument("--words", action="store_true", help="the decoder says where it looked, for times of words; slower")
    options = parser.parse_args()
    register_dynamic_cache_export_support()
    model = Model(options)
    settings = {"attn_implementation": "eager"} if options.words else {}
    network = model.network(AutoModelForSpeechSeq2Seq, None if options.source else SIZES[options.like](), **settings)
    if not options.source:
        mixed(network)
    config = network.config
    features = torch.randn(1, config.num_mel_bins, 2 * config.max_source_positions, generator=torch.Generator().manual_seed(5)) * 0.5
    prompt = torch.tensor([[config.decoder_start_token_id, 50259, 50359]])
    encoder, decoder = Encoder(network).eval(), Decoder(network, options.words).eval()
    if not options.source:
        own = network.generation_config
        network.generation_config = GenerationConfig(eos_token_id=None, pad_token_id=0, decoder_start_token_id=config.decoder_start_token_id)
        with torch.no_grad():
            # its own generate() is of windows, which transcribe() has
            found = transformers.GenerationMixin.generate(network, features, decoder_input_ids=prompt, max_new_tokens=32, min_new_tokens=32, do_sample=False)
        model.keep_json("tokens.json", [{"prompt": prompt[0].tolist(), "tokens": found[0, 3:].tolist()}])
        network.generation_config = own
    model.keep_calls(encoder, [{"input_features": features}], "encoder")
    model.save(torch.export.export(encoder, (), {"input_features": features}), "encoder")
    with torch.no_grad():
        cross = {name: value for name, value in encoder(features).items() if name.startswith("cross")}
    call = {"decoder_input_ids": prompt, "cache_position": torch.arange(3), **cross}
    length = Dim("length", max=config.max_target_positions - 1)
    shapes = {"decoder_input_ids": {1: length}, "cache_position": {0: length}, **{name: None for name in cross}}
    named(Decoder, call)
    program = torch.export.export(decoder, (), call, dynamic_shapes=shapes)
    model.keep_calls(decoder, [call], "decoder")
    model.save(program, "decoder")
    model.keep_json("config.json", {"text": {"task": "transcribe"}})
    if options.source:
        network.generation_config.save_pretrained(model.folder)
    else:
        model.keep_json("generation_config.json", GENERATION)
    model.keep_tokenizer(config.vocab_size, SPECIAL, eos_token="<|endoftext|>")


if __name__ == "__main__":
    main()
