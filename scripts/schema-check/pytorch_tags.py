"""Writes pytorch-2.13-tags.txt beside it: the tags of PyTorch's operators that say something about a call (tags.yaml), a line each with the operators that have it.

    python3 scripts/schema-check/pytorch_tags.py
"""

import pathlib

import torch

TAGS = ["data_dependent_output", "dynamic_output_shape", "inplace_view", "nondeterministic_seeded", "pointwise"]


def main() -> None:
    found: dict[str, list[str]] = {tag: [] for tag in TAGS}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace != "aten":
            continue
        packet = getattr(torch.ops.aten, name, None)
        overload = getattr(packet, schema.overload_name or "default", None)
        if overload is None:
            continue
        qualified = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
        for tag in overload.tags:
            if tag.name in found:
                found[tag.name].append(qualified)
    lines = [f"{tag}: {' '.join(sorted(set(names)))}" for tag, names in found.items()]
    path = pathlib.Path(__file__).with_name(f"pytorch-{'.'.join(torch.__version__.split('.')[:2])}-tags.txt")
    path.write_text(f"# By pytorch_tags.py, of PyTorch {torch.__version__}\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
