"""Single layers of today's transformers, in full width and with random weights: `make("llama_layer_512")` gives one and its input.

The last part of a name is the number of tokens. `make(name, "matmul")` writes attention out as products and a softmax where
the default calls scaled_dot_product_attention.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

TOKENS = (128, 512, 2048)
NAMES = tuple(f"{kind}_layer_{tokens}" for kind in ("bert", "llama") for tokens in TOKENS)


class Attention(nn.Module):
    """softmax(q k^T / sqrt(depth)) v over [batch, heads, tokens, depth]; `shared` heads of queries have one of keys and values."""

    def __init__(self, kind: str, causal: bool, depth: int, shared: int = 1):
        super().__init__()
        self.kind = kind
        self.causal = causal
        self.depth = depth
        self.shared = shared

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        if self.kind == "sdpa" and not torch.onnx.is_in_onnx_export():
            return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=self.shared > 1)
        if self.shared > 1:
            k, v = (x[:, :, None].expand(-1, -1, self.shared, -1, -1).reshape(q.shape) for x in (k, v))
        if self.kind == "sdpa":
            return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.depth)
        if self.causal:
            tokens = q.shape[2]
            scores = scores + torch.full((tokens, tokens), float("-inf")).triu(1)
        return torch.matmul(torch.softmax(scores, -1), v)


class BertLayer(nn.Module):
    """BERT-base: 12 heads, norms behind the residual sums, gelu."""

    def __init__(self, attention: str, width: int = 768, heads: int = 12):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.attention = Attention(attention, causal=False, depth=width // heads)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.norm1 = nn.LayerNorm(width, eps=1e-12)
        self.norm2 = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, tokens, width = x.shape
        q, k, v = (f(x).view(n, tokens, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        mixed = self.attention(q, k, v).transpose(1, 2).reshape(n, tokens, width)
        x = self.norm1(self.out(mixed) + x)
        return self.norm2(self.down(F.gelu(self.up(x))) + x)


class RMSNorm(nn.Module):
    """As Llama writes it out."""

    def __init__(self, width: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        dtype = x.dtype
        x = x.to(torch.float32)
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)).to(dtype)


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


class LlamaLayer(nn.Module):
    """16 query heads over 4 of keys and values, rotary positions, causal attention, RMSNorm in front, SwiGLU."""

    def __init__(self, attention: str, tokens: int, width: int = 1024, inner: int = 2816, heads: int = 16, kv_heads: int = 4):
        super().__init__()
        self.depth = width // heads
        self.query, self.out = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(width, kv_heads * self.depth, bias=False) for _ in range(2))
        self.attention = Attention(attention, causal=True, depth=self.depth, shared=heads // kv_heads)
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)
        self.norm1 = RMSNorm(width)
        self.norm2 = RMSNorm(width)
        angles = torch.outer(torch.arange(tokens).float(), 10000.0 ** (-torch.arange(0, self.depth, 2) / self.depth))
        angles = torch.cat((angles, angles), -1)[None, None]
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def rotary(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.cos + rotate_half(x) * self.sin

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, tokens, width = x.shape
        y = self.norm1(x)
        q, k, v = (f(y).view(n, tokens, -1, self.depth).transpose(1, 2) for f in (self.query, self.key, self.value))
        mixed = self.attention(self.rotary(q), self.rotary(k), v).transpose(1, 2).reshape(n, tokens, width)
        x = x + self.out(mixed)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def make(name: str, attention: str = "sdpa") -> tuple[nn.Module, torch.Tensor]:
    """The layer called `name`, the same each time, and an input for it."""
    torch.manual_seed(0)
    tokens = int(name.rsplit("_", 1)[1])
    layer = BertLayer(attention) if name.startswith("bert") else LlamaLayer(attention, tokens)
    for parameter in layer.parameters():
        if parameter.dim() == 1:
            parameter.data.add_(0.05 * torch.randn_like(parameter))
    return layer.eval(), torch.randn(1, tokens, 768 if name.startswith("bert") else 1024)
