"""The tensor operators that production models use most (in most models first), a row each: name, TorchScript call, tensors."""
from typing import Callable, Dict, NamedTuple

import torch


class Row(NamedTuple):
    name: str
    call: str
    tensors: Callable[[int], Dict[str, object]]
    # what is asked of the result `y`, so that TorchScript cannot drop the operator as dead
    use: str = "y.dim()"


def side(n: int) -> int:
    return round(n ** 0.5)


def x(n):
    """A square matrix of n elements."""
    return {"x": torch.randn(side(n), side(n))}


def xy(n):
    return {"x": torch.randn(side(n), side(n)), "z": torch.randn(side(n), side(n)) + 3}


def image(n):
    """Channels of 4 x 4 (16 elements) up to 64 channels of 256 x 256."""
    shape = {16: (1, 1, 4, 4), 16384: (1, 16, 32, 32), 4194304: (1, 64, 256, 256)}[n]
    return {"x": torch.randn(shape)}


def quantized(n):
    q = lambda: torch.quantize_per_tensor(torch.randn(side(n), side(n)), 0.05, 128, torch.quint8)
    return {"x": q(), "z": q()}


def with_index(n):
    return {**x(n), "index": torch.randint(side(n), (side(n),))}


def with_mask(n):
    return {**x(n), "mask": torch.rand(side(n), side(n)) > 0.5}


def matrix(n):
    """Activations of n elements against a weight of at most 512 x 512."""
    width = min(side(n), 512)
    return {"x": torch.randn(n // width, width), "w": torch.randn(width, width), "b": torch.randn(width)}


def batches(n):
    width = min(side(n), 128)
    return {"x": torch.randn(n // width // width, width, width), "z": torch.randn(n // width // width, width, width)}


def table(n):
    width = max(4, min(side(n), 256))
    return {"w": torch.randn(1000, width), "index": torch.randint(1000, (n // width,))}


def linear_dynamic(n):
    m = matrix(n)
    w = torch.quantize_per_tensor(m["w"], 0.02, 0, torch.qint8)
    return {"x": m["x"], "p": torch.ops.quantized.linear_prepack(w, m["b"])}



def linear_quantized(n):
    m = matrix(n)
    w = torch.quantize_per_tensor(m["w"], 0.02, 0, torch.qint8)
    return {"x": torch.quantize_per_tensor(m["x"], 0.05, 128, torch.quint8), "p": torch.ops.quantized.linear_prepack(w, m["b"])}


def conv_quantized(n):
    i = image(n)["x"]
    c = i.shape[1]
    w = torch.quantize_per_tensor(torch.randn(c, c, 3, 3), 0.02, 0, torch.qint8)
    p = torch.ops.quantized.conv2d_prepack(w, torch.randn(c), [1, 1], [1, 1], [1, 1], 1)
    return {"x": torch.quantize_per_tensor(i, 0.05, 128, torch.quint8).contiguous(memory_format=torch.channels_last), "p": p}


def conv_float(n):
    i = image(n)["x"]
    c = i.shape[1]
    return {"x": i, "w": torch.randn(c, c, 3, 3), "b": torch.randn(c)}


def bytes_table(n):
    t = table(n)
    rows = t["w"].shape[0]
    w = torch.quantize_per_channel(t["w"], torch.full((rows,), 0.02), torch.full((rows,), 128.0), 0, torch.quint8)
    return {"w": torch.ops.quantized.embedding_bag_prepack(w), "index": t["index"]}


ROWS = [
    Row("aten::contiguous", "torch.t(x).contiguous()", x),
    Row("aten::mul.Tensor", "x * z", xy),
    Row("aten::cat", "torch.cat([x, z], 1)", xy),
    Row("aten::slice.Tensor", "x[1:3]", x),
    Row("aten::relu", "torch.relu(x)", x),
    Row("aten::sigmoid", "torch.sigmoid(x)", x),
    Row("aten::zeros", "torch.zeros([x.size(0), x.size(1)])", x),
    Row("aten::sub.Tensor", "x - z", xy),
    Row("aten::softmax.int", "torch.softmax(x, 1)", x),
    Row("aten::add.Tensor", "x + z", xy),
    Row("aten::permute", "x.permute(1, 0)", x),
    Row("aten::view", "x.view(-1)", x),
    Row("aten::select.int", "x[1]", x),
    Row("aten::quantize_per_tensor", "torch.quantize_per_tensor(x, 0.05, 128, 13)", x),
    Row("aten::log_softmax.int", "torch.log_softmax(x, 1)", x),
    Row("aten::index_select", "torch.index_select(x, 0, index)", with_index),
    Row("aten::randn_like", "torch.randn_like(x)", x),
    Row("aten::layer_norm", "torch.layer_norm(x, [x.size(1)])", x),
    Row("aten::stack", "torch.stack([x, z])", xy),
    Row("aten::to.prim_dtype", "x.to(7)", x),
    Row("aten::div.Tensor", "x / z", xy),
    Row("aten::reshape", "x.reshape(-1, 2)", x),
    Row("aten::linear", "torch._C._nn.linear(x, w, b)", matrix),
    Row("aten::tensor.int", "torch.tensor(3)", x),
    Row("aten::transpose.int", "x.transpose(0, 1)", x),
    Row("aten::unsqueeze", "x.unsqueeze(0)", x),
    Row("aten::add.Scalar", "x + 2.5", x),
    Row("aten::unbind.int", "x.view(4, -1).unbind(0)", x, "len(y)"),
    Row("aten::to.dtype_layout", "x.to(dtype=5)", x),
    Row("aten::dropout", "torch.dropout(x, 0.5, False)", x),
    Row("aten::tanh", "torch.tanh(x)", x),
    Row("aten::flatten.using_ints", "torch.flatten(x)", x),
    Row("aten::detach", "x.detach()", x),
    Row("aten::expand", "x.expand(2, x.size(0), x.size(1))", x),
    Row("aten::neg", "-x", x),
    Row("aten::chunk", "torch.chunk(x, 2, 1)", x, "len(y)"),
    Row("aten::mul.Scalar", "x * 2.5", x),
    Row("aten::sub.Scalar", "x - 2.5", x),
    Row("aten::copy_", "x.copy_(z)", xy),
    Row("aten::index_fill.int_Scalar", "torch.index_fill(x, 0, index, 1.0)", with_index),
    Row("aten::clamp", "torch.clamp(x, -1.0, 1.0)", x),
    Row("aten::dequantize.self", "torch.dequantize(x)", quantized),
    Row("aten::max.dim", "torch.max(x, 1)", x, "y[0].dim()"),
    Row("aten::add_.Tensor", "x.add_(z)", xy),
    Row("aten::arange.start_step", "torch.arange(0, x.numel(), 1)", x),
    Row("aten::max", "torch.max(x)", x),
    Row("aten::gelu", "torch._C._nn.gelu(x)", x),
    Row("aten::index.Tensor", "x[index]", with_index),
    Row("aten::adaptive_avg_pool2d", "torch._C._nn.adaptive_avg_pool2d(x, [1, 1])", image),
    Row("aten::upsample_nearest2d.vec", "torch._C._nn.upsample_nearest2d(x, None, [2.0, 2.0])", image),
    Row("aten::squeeze.dim", "x.squeeze(0)", x),
    Row("aten::ones", "torch.ones([x.size(0), x.size(1)])", x),
    Row("aten::mean.dim", "torch.mean(x, [1])", x),
    Row("aten::repeat", "x.repeat(2, 1)", x),
    Row("aten::bmm", "torch.bmm(x, z)", batches),
    Row("aten::masked_fill.Scalar", "torch.masked_fill(x, mask, 0.0)", with_mask),
    Row("aten::embedding", "torch.embedding(w, index)", table),
    Row("aten::clone", "x.clone()", x),
    Row("aten::floor_divide.Scalar", "torch.floor_divide(x, 2.0)", x),
    Row("aten::sort", "torch.sort(x)", x, "y[0].dim()"),
    Row("aten::eq.Scalar", "x == 1.0", x),
    Row("aten::div.Scalar", "x / 2.5", x),
    Row("aten::ge.Tensor", "x >= z", xy),
    Row("aten::rand", "torch.rand([x.size(0), x.size(1)])", x),
    Row("aten::exp", "torch.exp(x)", x),
    Row("aten::sum.dim_IntList", "torch.sum(x, [0])", x),
    Row("aten::cumsum", "torch.cumsum(x, 1)", x),
    Row("aten::topk", "torch.topk(x, 2)", x, "y[0].dim()"),
    Row("aten::where.self", "torch.where(mask, x, x)", with_mask),
    Row("aten::conv2d", "torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)", conv_float),
    Row("quantized::linear_dynamic", "torch.ops.quantized.linear_dynamic(x, p)", linear_dynamic),
    Row("quantized::linear", "torch.ops.quantized.linear(x, p, 0.1, 128)", linear_quantized),
    Row("quantized::conv2d.new", "torch.ops.quantized.conv2d(x, p, 0.1, 128)", conv_quantized),
    Row("quantized::add", "torch.ops.quantized.add(x, z, 0.1, 128)", quantized),
    Row("quantized::mul", "torch.ops.quantized.mul(x, z, 0.1, 128)", quantized),
    Row("quantized::embedding_byte", "torch.ops.quantized.embedding_byte(w, index)", bytes_table),
]
