"""Writes model.ptl, which uses the operators of custom_ops.yaml, and expected.json with PyTorch's result. Needs PyTorch."""

import json
import os

import torch

library = torch.library.Library("demo", "DEF")
library.define("log_gamma(Tensor x) -> Tensor")
library.define("moving_mean(Tensor x, int window) -> Tensor")
library.define("normalize_(Tensor(a!) x, Tensor? weight=None) -> Tensor(a!)")


def normalize_(x, weight=None):
    x.div_(x.norm(dim=1, keepdim=True))
    return x if weight is None else x.mul_(weight)


library.impl("log_gamma", torch.lgamma, "CompositeImplicitAutograd")
library.impl("moving_mean", lambda x, window: x.unfold(1, window, 1).mean(2), "CompositeImplicitAutograd")
library.impl("normalize_", normalize_, "CPU")


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.weight = torch.nn.Parameter(torch.randn(14))

    def forward(self, x):
        x = torch.ops.demo.log_gamma(torch.relu(self.first(x)) + 0.5)
        x = torch.ops.demo.moving_mean(x, 3)
        return torch.ops.demo.normalize_(x, self.weight)


here = os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(1)
model = Model().eval().requires_grad_(False)
data = torch.randn(3, 8)
torch.jit.script(model)._save_for_lite_interpreter(os.path.join(here, "model.ptl"))
with open(os.path.join(here, "expected.json"), "w") as file:
    json.dump({"input": data.tolist(), "output": model(data).tolist()}, file)
    file.write("\n")
