"""Networks of other kinds, written with torch.nn alone, traced or scripted: from_torch.py FOLDER [NAME ...]"""
import math
import sys
from typing import Dict, List, Optional, Tuple

import exporting
import torch
import transformers
from torch import nn
from torch.nn import functional as F


class Cached(nn.Module):
    """A language model's step: keys and values of the words before come in and go out."""

    def __init__(self, kind, config, layers=2):
        super().__init__()
        self.network, self.layers = kind(config), layers

    def forward(self, ids, mask, *past):
        pairs = [(past[2 * i], past[2 * i + 1]) for i in range(self.layers)]
        cache = transformers.DynamicCache(pairs)
        out = self.network(input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True)
        kept = [t for layer in out.past_key_values.layers for t in (layer.keys, layer.values)]
        return (out.logits, *kept)


def cached(kind, config, heads, width):
    def make():
        past = 5
        calls = []
        for _ in range(2):
            ids, mask = torch.randint(3, 60, (2, 1)), torch.ones(2, past + 1, dtype=torch.long)
            mask[1, 0] = 0
            calls.append((ids, mask, *[torch.randn(2, heads, past, width) for _ in range(4)]))
        return Cached(kind, config), calls

    return make


class Conformer(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.first = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.SiLU(), nn.Linear(2 * d, d))
        self.norm, self.attention = nn.LayerNorm(d), nn.MultiheadAttention(d, 4, batch_first=True)
        self.in_norm, self.wide = nn.LayerNorm(d), nn.Conv1d(d, 2 * d, 1)
        self.deep, self.batch, self.out = nn.Conv1d(d, d, 7, padding=3, groups=d), nn.BatchNorm1d(d), nn.Conv1d(d, d, 1)
        self.last = nn.LayerNorm(d)

    def forward(self, x):
        x = x + 0.5 * self.first(x)
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = F.glu(self.wide(self.in_norm(x).transpose(1, 2)), 1)
        x = x + self.out(F.silu(self.batch(self.deep(y)))).transpose(1, 2)
        return self.last(x + 0.5 * self.first(x))


class Spectrogram(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.register_buffer("mel", torch.rand(33, 12))
        self.rnn = nn.GRU(12, 8, batch_first=True)

    def forward(self, x):
        s = torch.stft(x, 64, 32, window=self.window, return_complex=True)
        mel = torch.matmul(s.abs().pow(2).transpose(1, 2), self.mel).clamp(min=1e-6).log()
        y, h = self.rnn(mel)
        wave = torch.istft(s * torch.sigmoid(y.mean()), 64, 32, window=self.window)
        return mel, y, h, wave


class WaveNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.enter = nn.Conv1d(1, c, 1)
        self.gates = nn.ModuleList([nn.Conv1d(c, 2 * c, 2, dilation=2**i) for i in range(4)])
        self.mix = nn.ModuleList([nn.Conv1d(c, c, 1) for _ in range(4)])
        self.leave = nn.Conv1d(c, 16, 1)

    def forward(self, x):
        x, skip = self.enter(x), 0.0
        for i, (gate, mix) in enumerate(zip(self.gates, self.mix)):
            a, b = gate(F.pad(x, (2**i, 0))).chunk(2, 1)
            y = mix(torch.tanh(a) * torch.sigmoid(b))
            x, skip = x + y, skip + y
        return F.log_softmax(self.leave(F.relu(skip)), 1)


class Diffusion(nn.Module):
    """A denoiser: time embedding, group norms, attention over pixels, skip connections."""

    def __init__(self, c=16):
        super().__init__()
        self.enter, self.down = nn.Conv2d(3, c, 3, padding=1), nn.Conv2d(c, 2 * c, 3, stride=2, padding=1)
        self.time = nn.Sequential(nn.Linear(c, 2 * c), nn.SiLU(), nn.Linear(2 * c, 2 * c))
        self.norm, self.block = nn.GroupNorm(4, 2 * c), nn.Conv2d(2 * c, 2 * c, 3, padding=1)
        self.norm2, self.qkv, self.proj = nn.GroupNorm(4, 2 * c), nn.Conv2d(2 * c, 6 * c, 1), nn.Conv2d(2 * c, 2 * c, 1)
        self.up, self.leave = nn.Conv2d(2 * c, c, 3, padding=1), nn.Conv2d(2 * c, 3, 3, padding=1)

    def forward(self, x, t):
        rates = torch.exp(-math.log(10000) * torch.arange(8) / 8)
        angles = t[:, None].float() * rates[None]
        time = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        a = self.enter(x)
        h = self.down(a)
        h = h + self.block(F.silu(self.norm(h + time[:, :, None, None])))
        n, c, rows, columns = h.shape
        q, k, v = self.qkv(self.norm2(h)).reshape(n, 3, 4, c // 4, rows * columns).transpose(-1, -2).unbind(1)
        h = h + self.proj(F.scaled_dot_product_attention(q, k, v).transpose(-1, -2).reshape(n, c, rows, columns))
        u = self.up(F.interpolate(h, scale_factor=2.0, mode="nearest"))
        return self.leave(torch.cat([u, a], 1))


class Detector(nn.Module):
    """A single-shot detector's head: anchors, scores, boxes decoded, the best ones."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.LeakyReLU(0.1), nn.Conv2d(8, 16, 3, 2, 1), nn.Hardswish())
        self.head = nn.Conv2d(16, 3 * 9, 1)
        self.register_buffer("anchors", torch.tensor([[8.0, 8.0], [16.0, 12.0], [12.0, 20.0]]))

    def forward(self, x):
        y = self.head(self.body(x))
        n, _, rows, columns = y.shape
        y = y.view(n, 3, 9, rows, columns).permute(0, 1, 3, 4, 2).contiguous()
        gy, gx = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
        grid = torch.stack((gx, gy), 2).view(1, 1, rows, columns, 2).float()
        centre = (y[..., :2].sigmoid() * 2 - 0.5 + grid) * 4
        size = (y[..., 2:4].sigmoid() * 2) ** 2 * self.anchors.view(1, 3, 1, 1, 2)
        scores, kinds = (y[..., 4:5].sigmoid() * y[..., 5:].softmax(-1)).max(-1)
        boxes = torch.cat([centre - size / 2, centre + size / 2], -1).view(n, -1, 4)
        best, at = scores.view(n, -1).topk(10)
        return boxes.gather(1, at[..., None].expand(-1, -1, 4)), best, kinds.view(n, -1).gather(1, at)


class Points(nn.Module):
    """Layers on sets of points: neighbours by distance, the largest of what they say."""

    def __init__(self):
        super().__init__()
        self.edge, self.last = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16)), nn.Linear(16, 5)

    def forward(self, x):
        near = torch.cdist(x, x).topk(4, largest=False).indices
        rows = torch.arange(x.size(0))[:, None, None]
        y = x[rows, near]
        y = self.edge(torch.cat([y - x[:, :, None], x[:, :, None].expand_as(y)], -1)).amax(2)
        return self.last(y.max(1).values), near


class Graph(nn.Module):
    """Messages along the edges of a graph, summed up at their ends."""

    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(16, 8), nn.GRUCell(8, 8)

    def forward(self, x, edges):
        for _ in range(2):
            a, b = edges[0], edges[1]
            m = F.elu(self.message(torch.cat([x[a], x[b]], -1)))
            total = torch.zeros_like(x).index_add(0, b, m)
            most = torch.zeros_like(x).scatter_reduce(0, b[:, None].expand_as(m), m, "amax", include_self=False)
            x = self.update(total + most, x)
        return x, F.softmax(x, 0).sum(1)


class LongConvolution(nn.Module):
    def __init__(self, d=8, length=16):
        super().__init__()
        self.filter, self.mix = nn.Parameter(torch.randn(d, length)), nn.Linear(d, 2 * d)

    def forward(self, x):
        n = 2 * x.size(1)
        u = torch.fft.rfft(x.transpose(1, 2), n=n) * torch.fft.rfft(self.filter, n=n)
        y = torch.fft.irfft(u, n=n)[..., : x.size(1)].transpose(1, 2)
        return F.glu(self.mix(F.gelu(y, approximate="tanh")), -1)


class StateSpace(nn.Module):
    """S4D: a diagonal complex state."""

    def __init__(self, d=8, n=4):
        super().__init__()
        self.decay, self.turn = nn.Parameter(torch.rand(d, n)), nn.Parameter(math.pi * torch.arange(n).repeat(d, 1).float())
        self.c, self.step = nn.Parameter(torch.randn(d, n, 2)), nn.Parameter(torch.rand(d) * 0.1)

    def forward(self, x):
        a = torch.complex(-torch.exp(self.decay), self.turn) * self.step[:, None]
        k = a.unsqueeze(-1) * torch.arange(x.size(-1))
        kernel = 2 * torch.einsum("dn,dnl->dl", torch.view_as_complex(self.c) * (torch.exp(a) - 1.0) / a, torch.exp(k)).real
        size = 2 * x.size(-1)
        return torch.fft.irfft(torch.fft.rfft(x, n=size) * torch.fft.rfft(kernel, n=size), n=size)[..., : x.size(-1)]


class Flow(nn.Module):
    """Optical flow: a cost volume, and warping by grid_sample."""

    def __init__(self):
        super().__init__()
        self.features, self.flow = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(25, 2, 3, padding=1)

    def forward(self, a, b):
        a, b = self.features(a), self.features(b)
        n, c, h, w = a.shape
        windows = F.unfold(b, 5, padding=2).view(n, c, 25, h, w)
        flow = self.flow((windows * a[:, :, None]).mean(1))
        grid = F.affine_grid(torch.eye(2, 3).expand(n, 2, 3), [n, c, h, w], align_corners=False)
        warped = F.grid_sample(b, grid + flow.permute(0, 2, 3, 1) / h, padding_mode="border", align_corners=False)
        return flow, warped


class Upscaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1, padding_mode="reflect"), nn.PReLU(12), nn.Conv2d(12, 12, 3, padding=1))
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x):
        y = self.shuffle(self.body(x))
        up = F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)
        return (y + up).clamp(0, 1), F.interpolate(y, size=(10, 14), mode="bilinear", antialias=True)


class VectorQuantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.codes, self.decoder = nn.Conv1d(1, 8, 4, 4), nn.Embedding(16, 8), nn.ConvTranspose1d(8, 1, 4, 4)

    def forward(self, x):
        z = self.encoder(x).transpose(1, 2)
        d = z.pow(2).sum(-1, keepdim=True) - 2 * z @ self.codes.weight.t() + self.codes.weight.pow(2).sum(-1)
        code = d.argmin(-1)
        return self.decoder(self.codes(code).transpose(1, 2)), code, F.one_hot(code, 16).float().mean((0, 1))


class Spline(nn.Module):
    """A layer of learned splines (KAN)."""

    def __init__(self, a=6, b=5):
        super().__init__()
        self.base, self.weight = nn.Linear(a, b), nn.Parameter(torch.randn(b, a, 6))
        self.register_buffer("knots", torch.linspace(-2, 2, 10).repeat(a, 1))

    def forward(self, x):
        g, x1 = self.knots, x.unsqueeze(-1)
        basis = ((x1 >= g[:, :-1]) & (x1 < g[:, 1:])).to(x.dtype)
        for k in range(1, 4):
            left = (x1 - g[:, : -k - 1]) / (g[:, k:-1] - g[:, : -k - 1])
            right = (g[:, k + 1 :] - x1) / (g[:, k + 1 :] - g[:, 1:-k])
            basis = left * basis[..., :-1] + right * basis[..., 1:]
        return self.base(F.silu(x)) + torch.einsum("nak,bak->nb", basis, self.weight)


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag, self.sums = nn.EmbeddingBag(50, 8, mode="mean"), nn.EmbeddingBag(50, 8, mode="sum", include_last_offset=True)
        self.low, self.top = nn.Linear(4, 8), nn.Linear(8 + 3, 1)

    def forward(self, dense, ids, offsets, ends, weights):
        x = torch.stack([F.relu(self.low(dense)), self.bag(ids, offsets), self.sums(ids, ends, per_sample_weights=weights)], 1)
        i, j = torch.tril_indices(3, 3, offset=-1)
        return torch.sigmoid(self.top(torch.cat([x[:, 0], torch.bmm(x, x.transpose(1, 2))[:, i, j]], 1)))


class Greedy(nn.Module):
    """Words one after the other until the end: loops, lists and conditions of TorchScript."""

    def __init__(self, words=24, d=12):
        super().__init__()
        self.embedding, self.cell, self.out = nn.Embedding(words, d), nn.LSTMCell(d, d), nn.Linear(d, words)

    def forward(self, start: torch.Tensor, longest: int = 9) -> Tuple[torch.Tensor, torch.Tensor]:
        h = torch.zeros(start.size(0), 12)
        c = torch.zeros_like(h)
        word = start
        words: List[torch.Tensor] = []
        scores = torch.zeros(start.size(0))
        for _ in range(longest):
            h, c = self.cell(self.embedding(word), (h, c))
            best, word = F.log_softmax(self.out(h), 1).max(1)
            scores = scores + best
            words.append(word)
            if bool((word == 0).all()):
                break
        return torch.stack(words, 1), scores


class Beam(nn.Module):
    """Beam search with a dict of states."""

    def __init__(self, words=16, d=8):
        super().__init__()
        self.table, self.out = nn.Embedding(words, d), nn.Linear(d, words)

    def step(self, state: Dict[str, torch.Tensor], word: torch.Tensor) -> Tuple[torch.Tensor, Dict[str, torch.Tensor]]:
        h = torch.tanh(state["h"] * 0.5 + self.table(word))
        return F.log_softmax(self.out(h), -1), {"h": h}

    def forward(self, h: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        width = 3
        state = {"h": h.unsqueeze(0).repeat(width, 1)}
        scores = torch.tensor([0.0] + [-1e9] * (width - 1))
        word = torch.ones(width, dtype=torch.long)
        trail = torch.zeros(width, 0, dtype=torch.long)
        for _ in range(5):
            logp, state = self.step(state, word)
            total = (scores.unsqueeze(1) + logp).flatten()
            scores, at = total.topk(width)
            parent = torch.div(at, logp.size(1), rounding_mode="floor")
            word = at % logp.size(1)
            trail = torch.cat([trail[parent], word.unsqueeze(1)], 1)
            state = {k: v[parent] for k, v in state.items()}
        return trail, scores


class Tree(nn.Module):
    """Recursion unrolled over a stack of numbers, with optional values and strings."""

    def __init__(self):
        super().__init__()
        self.join = nn.Linear(8, 4)

    def forward(self, leaves: torch.Tensor, actions: List[int], name: Optional[str] = None) -> Tuple[torch.Tensor, str]:
        stack: List[torch.Tensor] = []
        at = 0
        for action in actions:
            if action == 0:
                stack.append(leaves[at])
                at += 1
            else:
                right, left = stack.pop(), stack.pop()
                stack.append(torch.tanh(self.join(torch.cat([left, right]))))
        assert len(stack) == 1, "the tree is not whole"
        label = name if name is not None else "tree of {}".format(at)
        return stack[0], label.upper()


class TreeCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.tree = Tree()

    def forward(self, leaves: torch.Tensor) -> torch.Tensor:
        return self.tree(leaves, [0, 0, 1, 0, 0, 1, 1])[0]


class Crf(nn.Module):
    """Viterbi's best path."""

    def __init__(self):
        super().__init__()
        self.emit, self.turn = nn.Linear(6, 5), nn.Parameter(torch.randn(5, 5))

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        e = self.emit(x)
        score, back = e[:, 0], torch.zeros(x.size(0), 0, 5, dtype=torch.long)
        for t in range(1, x.size(1)):
            score, from_ = (score.unsqueeze(2) + self.turn).max(1)
            score = score + e[:, t]
            back = torch.cat([back, from_.unsqueeze(1)], 1)
        best, tag = score.max(1)
        path = [tag]
        for t in range(back.size(1) - 1, -1, -1):
            tag = back[:, t].gather(1, tag.unsqueeze(1)).squeeze(1)
            path.insert(0, tag)
        return torch.stack(path, 1), best


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(6, 5, batch_first=True, bidirectional=True, proj_size=3)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, (h, c) = self.rnn(packed)
        y, n = nn.utils.rnn.pad_packed_sequence(y, batch_first=True)
        return y, h, c, n


class Ode(nn.Module):
    """Runge and Kutta's steps of a learned field, until the steps are small."""

    def __init__(self):
        super().__init__()
        self.field = nn.Sequential(nn.Linear(4, 12), nn.Softplus(), nn.Linear(12, 4))

    def forward(self, y: torch.Tensor) -> Tuple[torch.Tensor, int]:
        h, steps = 0.25, 0
        while steps < 20:
            k1 = self.field(y)
            k2 = self.field(y + h / 2 * k1)
            k3 = self.field(y + h / 2 * k2)
            k4 = self.field(y + h * k3)
            change = h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            y = y + change
            steps += 1
            if float(change.norm()) < 0.3:
                break
        return y, steps


class OdeCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.ode = Ode()

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        y, steps = self.ode(y)
        return y + steps


class Tabular(nn.Module):
    """Embeddings of categories beside numbers, normed and gated, with missing values filled."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(n, 4) for n in (3, 7, 5)])
        self.norm, self.attend, self.out = nn.BatchNorm1d(5), nn.Linear(17, 17), nn.Linear(17, 2)

    def forward(self, numbers, kinds):
        numbers = self.norm(torch.nan_to_num(numbers, nan=0.5))
        x = torch.cat([numbers] + [table(kinds[:, i]) for i, table in enumerate(self.tables)], 1)
        z = self.attend(x)
        order, _ = z.sort(1, descending=True)
        total = order.cumsum(1) - 1
        size = (total < order * torch.arange(1, 18)).sum(1, keepdim=True)
        mask = F.relu(z - total.gather(1, size - 1) / size)  # sparsemax
        return self.out(mask * x), mask


class Volume(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv3d(1, 6, 3, padding=1), nn.InstanceNorm3d(6, affine=True), nn.ELU(), nn.MaxPool3d(2), nn.ConvTranspose3d(6, 3, 2, 2), nn.Upsample(scale_factor=2, mode="trilinear")
        )
        self.pool = nn.AdaptiveAvgPool3d((2, 1, 3))

    def forward(self, x):
        y = self.layers(x)
        return y, self.pool(y), F.adaptive_max_pool3d(y, 2)


class Capsules(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(0.1 * torch.randn(1, 12, 4, 8, 6))

    def forward(self, x):
        u = (self.weight @ x[:, :, None, :, None]).squeeze(-1)
        b = torch.zeros(u.shape[:3])
        for _ in range(3):
            s = (F.softmax(b, 2).unsqueeze(-1) * u).sum(1)
            n = s.norm(dim=-1, keepdim=True)
            v = n**2 / (1 + n**2) * s / (n + 1e-8)
            b = b + (u * v.unsqueeze(1)).sum(-1)
        return v, b


class Losses(nn.Module):
    """What training code leaves in a network."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 4)

    def forward(self, x, y, kinds):
        z = self.a(x)
        return (
            F.cross_entropy(z, kinds, label_smoothing=0.1), F.mse_loss(z, y), F.smooth_l1_loss(z, y, beta=0.5), F.huber_loss(z, y),
            F.binary_cross_entropy_with_logits(z, torch.sigmoid(y)), F.kl_div(F.log_softmax(z, 1), F.softmax(y, 1), reduction="batchmean"),
            F.cosine_similarity(z, y), F.triplet_margin_loss(z, y, y.flip(0)), F.gaussian_nll_loss(z, y, y.exp()),
        )  # fmt: skip


class Linear(nn.Module):
    """Linear algebra and statistics inside of a network."""

    def forward(self, x):
        a = x @ x.transpose(1, 2) + torch.eye(x.size(1))
        low = torch.linalg.cholesky(a)
        return (
            torch.linalg.solve(a, x), torch.linalg.inv(a), torch.logdet(a), low, torch.cholesky_solve(x, low), torch.linalg.norm(x, dim=(1, 2)),
            x.var(1, correction=0), x.std(-1), x.median(1).values, x.quantile(0.3, dim=1), torch.logsumexp(x, 1), torch.cummax(x, 1).values,
            torch.linalg.matrix_exp(0.1 * a), torch.einsum("bij,bkj->bik", x, x), torch.tensordot(x, x, dims=([1, 2], [1, 2])), x.diff(dim=1),
        )  # fmt: skip


def networks():
    n, ints = torch.randn, torch.randint
    twice = lambda make: [make(), make()]
    base = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_position_embeddings=64)
    hf = transformers
    yield "llama-cached", cached(hf.LlamaForCausalLM, hf.LlamaConfig(num_key_value_heads=2, **base), 2, 8)
    yield "qwen3-cached", cached(hf.Qwen3ForCausalLM, hf.Qwen3Config(num_key_value_heads=2, head_dim=8, **base), 2, 8)
    yield "gpt2-cached", cached(hf.GPT2LMHeadModel, hf.GPT2Config(vocab_size=64, n_embd=32, n_head=4, n_layer=2, n_positions=64), 4, 8)
    yield "opt-cached", cached(
        hf.OPTForCausalLM, hf.OPTConfig(vocab_size=64, hidden_size=32, word_embed_proj_dim=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64), 4, 8
    )
    yield "phi3-cached", cached(hf.Phi3ForCausalLM, hf.Phi3Config(num_key_value_heads=2, pad_token_id=0, **base), 2, 8)
    yield "transformer", lambda: (nn.Transformer(16, 2, 1, 1, 32, batch_first=True), twice(lambda: (n(2, 5, 16), n(2, 4, 16))))
    yield "conformer", lambda: (Conformer(), twice(lambda: (n(2, 9, 24),)))
    yield "spectrogram", lambda: (Spectrogram(), twice(lambda: (n(2, 512),)))
    yield "wavenet", lambda: (WaveNet(), twice(lambda: (n(2, 1, 40),)))
    yield "diffusion", lambda: (Diffusion(), twice(lambda: (n(1, 3, 16, 16), ints(0, 1000, (1,)))))
    yield "detector", lambda: (Detector(), twice(lambda: (n(1, 3, 32, 48),)))
    yield "points", lambda: (Points(), twice(lambda: (n(2, 20, 3),)))
    yield "graph", lambda: (Graph(), twice(lambda: (n(7, 8), ints(0, 7, (2, 15)))))
    yield "long-convolution", lambda: (LongConvolution(), twice(lambda: (n(2, 16, 8),)))
    yield "complex-state-space", lambda: (StateSpace(), twice(lambda: (n(2, 8, 12),)))
    yield "flow", lambda: (Flow(), twice(lambda: (n(1, 3, 16, 16), n(1, 3, 16, 16))))
    yield "upscaler", lambda: (Upscaler(), twice(lambda: (torch.rand(1, 3, 12, 10),)))
    yield "vector-quantizer", lambda: (VectorQuantizer(), twice(lambda: (n(2, 1, 32),)))
    yield "spline", lambda: (Spline(), twice(lambda: (n(4, 6),)))
    yield "recommender", lambda: (
        Recommender(),
        twice(lambda: (n(3, 4), ints(0, 50, (8,)), torch.tensor([0, 2, 5]), torch.tensor([0, 3, 4, 8]), torch.rand(8))),
    )
    yield "packed", lambda: (Packed(), twice(lambda: (n(3, 7, 6), torch.tensor([7, 3, 5]))))
    yield "tabular", lambda: (Tabular(), twice(lambda: (torch.where(torch.rand(6, 5) > 0.8, math.nan, n(6, 5)), ints(0, 3, (6, 3)))))
    yield "volume", lambda: (Volume(), twice(lambda: (n(1, 1, 8, 6, 10),)))
    yield "capsules", lambda: (Capsules(), twice(lambda: (n(2, 12, 6),)))
    yield "losses", lambda: (Losses(), twice(lambda: (n(5, 6), n(5, 4), ints(0, 4, (5,)))))
    yield "linear-algebra", lambda: (Linear(), twice(lambda: (n(2, 4, 5),)))
    scripted = lambda make: lambda: (torch.jit.script(make[0]().eval()), twice(make[1]))
    yield "greedy", scripted((Greedy, lambda: (ints(1, 24, (3,)),)))
    yield "beam", scripted((Beam, lambda: (n(8),)))
    yield "tree", scripted((TreeCall, lambda: (n(4, 4),)))
    yield "crf", scripted((Crf, lambda: (n(2, 7, 6),)))
    yield "ode", scripted((OdeCall, lambda: (n(2, 4),)))
    yield "spline-scripted", scripted((Spline, lambda: (n(4, 6),)))
    yield "conformer-scripted", scripted((Conformer, lambda: (n(2, 9, 24),)))
    yield "transformer-scripted", scripted((lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2), lambda: (n(2, 5, 16),)))
    yield "decoder-scripted", scripted((lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 2, 32), 1), lambda: (n(5, 2, 16), n(4, 2, 16))))


def main():
    folder, *names = sys.argv[1:]
    transformers.logging.set_verbosity_error()
    exporting.export_all(folder, [(name, make) for name, make in networks() if not names or name in names])


if __name__ == "__main__":
    main()
