"""Writes model.ptl, which uses the operators of custom_ops.yaml, and expected.json with PyTorch's result. Needs python3-torch 1.13."""

import json
import os

import torch

library = torch.library.Library("demo", "DEF")
library.define("swish(Tensor self, float beta=1.0) -> Tensor")
library.define("scale_shift(Tensor self, float scale, float shift=0.0) -> Tensor")
library.impl("swish", lambda self, beta=1.0: self * torch.sigmoid(beta * self), "CompositeImplicitAutograd")
library.impl("scale_shift", lambda self, scale, shift=0.0: self * scale + shift, "CompositeImplicitAutograd")


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 4)

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = torch.ops.demo.swish(x, 1.5)
        x = self.second(x)
        return torch.ops.demo.scale_shift(x, 2.0)


here = os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(1)
model = Model().eval()
data = torch.randn(3, 8)
torch.jit.script(model)._save_for_lite_interpreter(os.path.join(here, "model.ptl"))
with open(os.path.join(here, "expected.json"), "w") as file:
    json.dump({"input": data.tolist(), "output": model(data).tolist()}, file)
    file.write("\n")
