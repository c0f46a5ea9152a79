"""A language model of Llama's architecture with random weights, of SmolLM2-135M's sizes without options, for bench/lm.mjs.

python3 language_model.py DIR [--layers 30] [--hidden 576] [--inner 1536] [--heads 9] [--key-heads 3] [--vocabulary 49152] [--past 64]

Writes DIR/lm.ptl: forward(tokens[1, n], positions[n], keys[layers, 1, heads, past, 64], values) gives the logits of the last token and the keys and values
of all tokens, with the last layer's weight that of the embedding. Needs PyTorch 1.13 or newer. With the package gguf, which numpy and PyTorch are enough for, it writes the same
weights as DIR/lm-F32.gguf, lm-F16.gguf, lm-Q8_0.gguf and lm-Q4_0.gguf, for llama.cpp.
"""
import argparse
import pathlib

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.size(-1) // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Layer(nn.Module):
    def __init__(self, o: argparse.Namespace):
        super().__init__()
        self.heads, self.key_heads, self.size = o.heads, o.key_heads, o.hidden // o.heads
        narrow = o.key_heads * self.size
        self.input_norm, self.inner_norm = RMSNorm(o.hidden), RMSNorm(o.hidden)
        self.q, self.o = (nn.Linear(o.hidden, o.hidden, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(o.hidden, narrow, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(o.hidden, o.inner, bias=False) for _ in range(2))
        self.down = nn.Linear(o.inner, o.hidden, bias=False)

    def forward(self, x, keys, values, cos, sin, mask):
        n = x.size(1)
        y = self.input_norm(x)
        q = rotated(self.q(y).view(1, n, self.heads, self.size).transpose(1, 2), cos, sin)
        k = rotated(self.k(y).view(1, n, self.key_heads, self.size).transpose(1, 2), cos, sin)
        v = self.v(y).view(1, n, self.key_heads, self.size).transpose(1, 2)
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        group = self.heads // self.key_heads
        wide = [t.unsqueeze(2).expand(-1, -1, group, -1, -1).reshape(1, self.heads, -1, self.size) for t in (keys, values)]
        scores = torch.matmul(q, wide[0].transpose(2, 3)) / self.size**0.5 + mask
        y = torch.matmul(torch.softmax(scores, -1), wide[1]).transpose(1, 2).reshape(1, n, -1)
        x = x + self.o(y)
        y = self.inner_norm(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y)), keys, values


class LanguageModel(nn.Module):
    def __init__(self, o: argparse.Namespace):
        super().__init__()
        self.embedding = nn.Embedding(o.vocabulary, o.hidden)
        self.layers = nn.ModuleList(Layer(o) for _ in range(o.layers))
        self.norm = RMSNorm(o.hidden)
        self.head = nn.Linear(o.hidden, o.vocabulary, bias=False)
        size = o.hidden // o.heads
        self.register_buffer("frequencies", 1e5 ** (-torch.arange(0, size, 2).float() / size))
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.04)
        self.head.weight = self.embedding.weight

    def forward(self, tokens, positions, keys, values):
        x = self.embedding(tokens)
        angles = positions.float().unsqueeze(1) * self.frequencies
        angles = torch.cat([angles, angles], -1)
        cos, sin = angles.cos(), angles.sin()
        n, past = tokens.size(1), keys.size(3)
        mask = torch.full((n, past + n), float("-inf")).triu(past + 1)
        made = []
        for i, layer in enumerate(self.layers):
            x, k, v = layer(x, keys[i], values[i], cos, sin, mask)
            made.append((k, v))
        logits = self.head(self.norm(x[:, -1:]))
        return logits, torch.stack([k for k, _ in made]), torch.stack([v for _, v in made])


def gguf_files(model: LanguageModel, o: argparse.Namespace, folder: pathlib.Path) -> None:
    """Matrices in the format of each file, vectors in float32; rows of queries and keys in the order that llama.cpp rotates them in."""
    import gguf

    def permuted(weight: torch.Tensor, heads: int) -> torch.Tensor:
        return weight.view(heads, 2, -1, weight.size(1)).transpose(1, 2).reshape(weight.shape)

    for name in ("F32", "F16", "Q8_0", "Q4_0"):
        kind = gguf.GGMLQuantizationType[name]
        writer = gguf.GGUFWriter(str(folder / f"lm-{name}.gguf"), "llama")
        writer.add_block_count(o.layers)
        writer.add_context_length(2048)
        writer.add_embedding_length(o.hidden)
        writer.add_feed_forward_length(o.inner)
        writer.add_head_count(o.heads)
        writer.add_head_count_kv(o.key_heads)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_rope_freq_base(1e5)
        writer.add_vocab_size(o.vocabulary)
        # no text is read: any tokens will do
        special = [b"<unk>", b"<s>", b"</s>"]
        tokens = special + [b"<0x%02X>" % i for i in range(256)]
        tokens += [b"t%d" % i for i in range(len(tokens), o.vocabulary)]
        writer.add_tokenizer_model("llama")
        writer.add_token_list(tokens)
        writer.add_token_scores([0.0] * len(tokens))
        writer.add_token_types([2, 3, 3] + [6] * 256 + [1] * (len(tokens) - 259))
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)

        def add(key: str, tensor: torch.Tensor) -> None:
            data = tensor.detach().float().contiguous().numpy()
            if data.ndim == 2:
                writer.add_tensor(key, gguf.quants.quantize(data, kind), raw_dtype=kind)
            else:
                writer.add_tensor(key, data)

        add("token_embd.weight", model.embedding.weight)
        add("output_norm.weight", model.norm.weight)
        for i, layer in enumerate(model.layers):
            add(f"blk.{i}.attn_norm.weight", layer.input_norm.weight)
            add(f"blk.{i}.ffn_norm.weight", layer.inner_norm.weight)
            add(f"blk.{i}.attn_q.weight", permuted(layer.q.weight, o.heads))
            add(f"blk.{i}.attn_k.weight", permuted(layer.k.weight, o.key_heads))
            for key, linear in (("attn_v", layer.v), ("attn_output", layer.o), ("ffn_gate", layer.gate), ("ffn_up", layer.up), ("ffn_down", layer.down)):
                add(f"blk.{i}.{key}.weight", linear.weight)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    for name, value in {"layers": 30, "hidden": 576, "inner": 1536, "heads": 9, "key-heads": 3, "vocabulary": 49152, "past": 64}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    o = parser.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model = LanguageModel(o).eval()
    cache = torch.randn(2, o.layers, 1, o.key_heads, o.past, o.hidden // o.heads)
    example = (torch.zeros(1, 2, dtype=torch.long), o.past + torch.arange(2), cache[0], cache[1])
    with torch.no_grad():
        traced = torch.jit.trace(model, example)
    traced._save_for_lite_interpreter(str(o.folder / "lm.ptl"))
    try:
        gguf_files(model, o, o.folder)
    except ImportError:
        print("without the package gguf there are no files for llama.cpp")


if __name__ == "__main__":
    main()
