"""Writes the schemas that PyTorch registers for what a mobile file can name, beside this script: one a line, in sections by use.

Run with the PyTorch whose schemas are wanted (and its torchvision, if that has its operators): python scripts/schema-check/pytorch_schemas.py
"""
import os
import re

import torch

try:
    import torchvision  # noqa: F401  registers its operators
except (ImportError, RuntimeError):
    pass

NAMESPACES = ("aten", "prim", "quantized", "_quantized", "prepacked", "torchvision")

# The section of a schema is the first that has a word of its name; 'inference' has the rest. Nobody has to have what is not inference.
SECTIONS = {
    "training": "backward autograd grad gradients adagrad adam adamw sgd amp dual retain retains learnable moving",
    "nested": "nested jagged",
    "sparse": "sparse csr csc bsr bsc ccol crow compressed cslt coalesce coalesced spdiags spsolve hspmm sspaddmm smm",
    "device": "cuda cudnn cufft cutlass triton miopen mps xpu xla hpu ipu maia mtia mkl mkldnn onednn vulkan metal nnpack fbgemm lazy flash efficient overrideable",
    "compiler": "test foobar functorch autocast batchdim propagate",
}
WORDS = {section: set(words.split()) for section, words in SECTIONS.items()}

# nodes of graphs in the making, which are never saved
NODES = re.compile(
    r"prim::(AddStatValue|Autograd|Bail|Broadcast|Chunk|Constant|Differentiable|Fallback|Fus|Guard|IfThenElse|Ignored|MKLDNN|MM|oneDNN|profile"
    r"|PythonOp|RequiresGradCheck|rpc|Static|TensorExpr|TypeCheck|Var|awaitable)"
)


def section_of(name):
    if NODES.match(name):
        return "compiler"
    if name.endswith("_for_cpu"):
        return "inference"
    words = set(re.split("[^a-z0-9]+", name.lower().replace("batch_dim", "batchdim")))
    return next((section for section in SECTIONS if words & WORDS[section]), "inference")


def main():
    schemas = sorted({str(schema) for schema in torch._C._jit_get_all_schemas() if schema.name.split("::")[0] in NAMESPACES})
    sections = {section: [] for section in ("inference", *SECTIONS)}
    for schema in schemas:
        sections[section_of(schema.split("(")[0])].append(schema)
    version = torch.__version__.split("+")[0]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"pytorch-{'.'.join(version.split('.')[:2])}.txt")
    with open(path, "w") as file:
        file.write(f"# Schemas that PyTorch {version} registers, by scripts/schema-check/pytorch_schemas.py\n")
        for section, lines in sections.items():
            file.write(f"[{section}]\n" + "".join(line + "\n" for line in lines))
    print(path, {section: len(lines) for section, lines in sections.items()})


if __name__ == "__main__":
    main()
