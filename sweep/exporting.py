"""Traces networks with PyTorch 2 and writes what the lite interpreter makes of them, for run.mjs to compare with.

For every network NAME: NAME.ptl, NAME.json (inputs, outputs, and how far rounding moves the outputs) and NAME.bin (their elements).
"""
import glob
import importlib.util
import json
import os
import random
import signal
import sys
import traceback
import warnings

import exported
import torch
from torch import nn
from torch.jit.mobile import _load_for_lite_interpreter

warnings.filterwarnings("ignore")

# What torchvision's C++ part declares. Its networks import without that, once the operators are known by name.
_SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, int sampling_ratio, bool aligned) -> Tensor",
    "qroi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, int sampling_ratio, bool aligned) -> Tensor",
    "_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, int batch_size, int channels, int height, int width, int sampling_ratio, bool aligned) -> Tensor",
    "roi_pool(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width) -> (Tensor, Tensor)",
    "_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, int pooled_height, int pooled_width, int batch_size, int channels, int height, int width) -> Tensor",
    "ps_roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
    "_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, int pooled_height, int pooled_width, int sampling_ratio, int batch_size, int channels, int height, int width) -> Tensor",
    "ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width) -> (Tensor, Tensor)",
    "_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, int pooled_height, int pooled_width, int batch_size, int channels, int height, int width) -> Tensor",
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h, int stride_w, int pad_h, int pad_w, int dil_h, int dil_w, int groups, int offset_groups, bool use_mask) -> Tensor",
    "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, int offset_groups, bool use_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)


def _has_compiled_part():
    """Whether torchvision's C++ part is there and fits this PyTorch. It declares its operators itself, and ends the process where they are declared already."""
    spec = importlib.util.find_spec("torchvision")
    folders = (spec and spec.submodule_search_locations) or []
    for path in (path for folder in folders for path in glob.glob(os.path.join(folder, "_C*.so"))):
        try:
            torch.ops.load_library(path)
            return True
        except OSError:
            pass
    return False


def _has_ops():
    return True


def _nms(boxes, scores, threshold):
    keep, order = [], scores.argsort(descending=True, stable=True).tolist()
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while order:
        best, *order = order
        keep.append(best)
        rest = torch.tensor(order, dtype=torch.long)
        low = torch.maximum(boxes[best, :2], boxes[rest, :2])
        high = torch.minimum(boxes[best, 2:], boxes[rest, 2:])
        both = (high - low).clamp(min=0).prod(1)
        order = rest[both / (area[best] + area[rest] - both) <= threshold].tolist()
    return torch.tensor(keep, dtype=torch.long)


def _roi_align(input, rois, scale, height, width, ratio, aligned):
    shift = 0.5 if aligned else 0.0
    count, rows, columns = max(ratio, 2) if ratio <= 0 else ratio, input.shape[2], input.shape[3]
    out = input.new_zeros(rois.shape[0], input.shape[1], height, width)
    for n, roi in enumerate(rois.tolist()):
        image = input[int(roi[0])]
        x0, y0, x1, y1 = (v * scale - shift for v in roi[1:])
        w, h = (x1 - x0, y1 - y0) if aligned else (max(x1 - x0, 1.0), max(y1 - y0, 1.0))
        gy, gx = (count, count) if ratio > 0 else (max(-int(-h // height), 1), max(-int(-w // width), 1))

        def axis(start, size, bins, grid, limit):
            at = start + (torch.arange(bins * grid) + 0.5) * (size / bins / grid)
            inside = (at >= -1) & (at <= limit)
            at = at.clamp(min=0)
            low = at.floor().long().clamp(max=limit - 1)
            at = torch.where(low >= limit - 1, low.to(at.dtype), at)
            return low, (low + 1).clamp(max=limit - 1), at - low, inside

        yl, yh, fy, iny = axis(y0, h, height, gy, rows)
        xl, xh, fx, inx = axis(x0, w, width, gx, columns)
        fy, fx = fy[:, None], fx[None, :]
        at = lambda y, x: image[:, y][:, :, x]
        values = at(yl, xl) * (1 - fy) * (1 - fx) + at(yl, xh) * (1 - fy) * fx + at(yh, xl) * fy * (1 - fx) + at(yh, xh) * fy * fx
        values = values * (iny[:, None] & inx[None, :])
        out[n] = values.view(-1, height, gy, width, gx).mean((2, 4))
    return out


if not _has_compiled_part():
    _torchvision = torch.library.Library("torchvision", "DEF")
    for _schema in _SCHEMAS:
        _torchvision.define(_schema)
    for _name, _function in (("nms", _nms), ("roi_align", _roi_align)):
        _torchvision.impl(_name, _function, "CPU")
    try:
        import torchvision.extension

        for _module in ("torchvision.extension", "torchvision.ops.roi_align"):
            sys.modules[_module]._has_ops = _has_ops
    except ImportError:
        pass


class NotExportable(Exception):
    """PyTorch cannot make the network, or trace it."""


class _Timeout(Exception):
    pass


def tensors_of(value, found=None):
    """All tensors of an output, in order: of tuples, lists, dicts and transformers' outputs."""
    found = [] if found is None else found
    if isinstance(value, torch.Tensor):
        if value.layout == torch.strided and not value.is_complex():
            found.append(value)
    elif isinstance(value, dict):
        for item in value.values():
            tensors_of(item, found)
    elif isinstance(value, (list, tuple)):
        for item in value:
            tensors_of(item, found)
    return found


class Flat(nn.Module):
    """Positional tensors in, a tuple of tensors out."""

    def __init__(self, network, names=None, options=None):
        super().__init__()
        self.network, self.names, self.options = network, names, options or {}

    def forward(self, *values):
        result = self.network(**dict(zip(self.names, values)), **self.options) if self.names else self.network(*values)
        return tuple(tensors_of(result))


def settle(network, calls):
    """Other values for parameters that start as zeros or ones, and for batch norms the statistics of the inputs."""
    generator = torch.Generator().manual_seed(11)
    for parameter in network.parameters():
        if parameter.is_floating_point() and (parameter.dim() <= 1 or parameter.std() == 0):
            parameter.data.add_(0.1 * torch.randn(parameter.shape, generator=generator).to(parameter.dtype))
    norms = [m for m in network.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm) and m.track_running_stats]
    if norms:
        network.eval()
        for norm in norms:
            norm.train()
            norm.momentum = 0.5
        with torch.no_grad():
            for inputs in [*calls, *calls]:
                try:
                    network(*inputs)
                except ValueError:  # one value per channel
                    break
    return network.eval()


def _scripted(flat, calls):
    return torch.jit.script(flat.network), calls


def _cast(dtype):
    return lambda flat, calls: (flat.to(dtype), [tuple(v.to(dtype) if v.is_floating_point() else v for v in inputs) for inputs in calls])


def _quantized(flat, calls):
    torch.backends.quantized.engine = "qnnpack"  # that of mobile builds
    return torch.ao.quantization.quantize_dynamic(flat, {nn.Linear, nn.LSTM, nn.GRU}), calls


# What becomes of a network before it is saved.
VARIANTS = {
    "traced": lambda flat, calls: (flat, calls),
    "scripted": _scripted,
    "bfloat16": _cast(torch.bfloat16),
    "float16": _cast(torch.float16),
    "float64": _cast(torch.float64),
    "quantized": _quantized,
    "exported": lambda flat, calls: (flat, calls),
}
# How far results may be off, of the largest value: values of fewer bits may be rounded to either neighbour.
TOLERANCES = {"bfloat16": 3e-2, "float16": 4e-3, "quantized": 2e-2}


def _disturbed(path, inputs):
    """Outputs of the file where floating inputs and parameters are off by up to half a unit in the last place."""
    module = torch.jit.load(path)
    generator = torch.Generator().manual_seed(5)

    def off(value):
        return value * (1 + 6e-8 * (2 * torch.rand(value.shape, generator=generator) - 1)).to(value.dtype)

    for tensor in [*module.parameters(), *module.buffers()]:
        if tensor.dtype == torch.float32:
            tensor.data.copy_(off(tensor.data))
    return tensors_of(module(*[off(v) if v.is_floating_point() else v for v in inputs]))


def _relative(a, b):
    """Largest difference, of the largest finite value."""
    if a.shape != b.shape or a.numel() == 0 or not a.is_floating_point():
        return 0.0
    a, b = a.double(), b.double()
    finite = a.isfinite() & b.isfinite()
    if not finite.any():
        return 0.0
    return float((a - b)[finite].abs().max() / a[finite].abs().max().clamp(min=1e-30))


def larger_batch(module, calls):
    """A call with the rows of all others, where the traced network takes that."""
    try:
        inputs = tuple(torch.cat(values) for values in zip(*calls))
        module(*inputs)
        return [inputs]
    except RuntimeError:
        return []


def export(folder, name, network, calls, names=None, options=None, seconds=120, forms=(), variant="traced"):
    """
    Traces `network` with the first of `calls` (tuples of tensors), saves it, and runs the file on each of them, and on
    the rows of all together. `forms`: "pt" and "ff" are files to leave beside it. `variant`: one of VARIANTS.
    """

    def expired(*_):
        raise _Timeout()

    signal.signal(signal.SIGALRM, expired)
    # a program is traced, run at several sizes and decomposed
    signal.alarm(4 * seconds if variant == "exported" else seconds)
    path = os.path.join(folder, f"{name}.ptl")
    script = os.path.join(folder, f"{name}.pt")
    try:
        if not isinstance(network, torch.jit.ScriptModule):
            network, calls = VARIANTS[variant](settle(Flat(network, names, options), calls), calls)
        if variant == "exported":
            calls, results, pairs = exported.write(path[: -len(".ptl")], network, calls, tensors_of, NotExportable)
            noise = [max(map(_relative, found, moved), default=0.0) for found, moved in pairs]
            return _describe(folder, name, calls, results, noise, variant)
        with torch.no_grad():
            traced = network if isinstance(network, torch.jit.ScriptModule) else torch.jit.trace(network, calls[0], strict=False, check_trace=False)
            traced._save_for_lite_interpreter(path)
            traced.save(script)
            if "ff" in forms:
                traced._save_for_lite_interpreter(os.path.join(folder, f"{name}.ff"), _use_flatbuffer=True)
            lite = _load_for_lite_interpreter(path)
            calls = [*calls, *larger_batch(lite, calls)]
            results = [lite(*inputs) for inputs in calls]
            results = [list(r) if isinstance(r, (list, tuple)) else [r] for r in results]
            again = tensors_of(lite(*calls[0]))
            if any(not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(tensors_of(results[0]), again)):
                raise NotExportable("gives another result each time")
            try:
                noise = [max(map(_relative, r, _disturbed(script, i)), default=0.0) for r, i in zip(results, calls)]
            except RuntimeError:
                noise = [0.0 for _ in calls]
    except _Timeout:
        raise NotExportable(f"more than {seconds} s") from None
    finally:
        signal.alarm(0)
        if "pt" not in forms and os.path.exists(script):
            os.remove(script)
    _describe(folder, name, calls, results, noise, variant)


def _describe(folder, name, calls, results, noise, variant):
    """Writes NAME.json and NAME.bin."""
    data = bytearray()

    def described(tensor):
        tensor = tensor.detach().contiguous()
        entry = {"dtype": str(tensor.dtype).split(".")[1], "shape": list(tensor.shape), "offset": len(data)}
        data.extend(tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b"")
        data.extend(bytes(-len(data) % 8))
        return entry

    entries = [{"inputs": [described(v) for v in i], "outputs": [described(v) for v in r], "noise": n} for i, r, n in zip(calls, results, noise)]
    with open(os.path.join(folder, f"{name}.bin"), "wb") as file:
        file.write(data)
    with open(os.path.join(folder, f"{name}.json"), "w") as file:
        json.dump({"calls": entries, "tolerance": TOLERANCES.get(variant, 1e-5)}, file)


def seed(text):
    """The same weights for a name, whatever else is exported."""
    value = sum(map(ord, text))
    random.seed(value)
    torch.manual_seed(value)


def export_all(folder, networks):
    """
    Exports networks given as (name, function of no argument that gives the arguments of `export`); prints what PyTorch cannot export.
    SWEEP_FORMS=pt,ff leaves other forms of a network beside it, SWEEP_VARIANT is one of VARIANTS.
    """
    os.makedirs(folder, exist_ok=True)
    forms = [form for form in os.environ.get("SWEEP_FORMS", "").split(",") if form]
    count = 0
    for name, make in networks:
        if os.path.exists(os.path.join(folder, f"{name}.json")):
            count += 1
            continue
        seed(name)
        try:
            network, calls, *rest = make()
            export(folder, name, network, calls, *rest, forms=forms, variant=os.environ.get("SWEEP_VARIANT", "traced"))
            count += 1
            print("exported", name, flush=True)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # transformers raises what it likes
            path = os.path.join(folder, f"{name}.ptl")
            if os.path.exists(path):
                os.remove(path)
            text = str(error).strip().split("\n")
            reason = (text[0] if text else "")[:160]
            print("not exportable", name, type(error).__name__, reason, flush=True)
            if os.environ.get("SWEEP_TRACE"):
                traceback.print_exc()
    print(count, "exported", flush=True)
