"""Runs the programs of a file that `npm run fuzz -- programs --export FILE` wrote in PyTorch, and compares what there is to see behind every call.

    python test/differential/pytorch.py FILE [--show N]

An error is one wherever PyTorch has one; its text is not compared. Lists, dicts and tuples that are arguments are copied by PyTorch on the way in, so only tensors that are
arguments themselves are compared. Exits with 1 where something differs.
"""
import base64
import collections
import io
import json
import math
import re
import sys
import warnings

import torch

warnings.simplefilter("ignore")
DTYPES = {name: getattr(torch, name) for name in "float32 float64 int64 int32 int16 int8 uint8 bool float16 bfloat16".split()}
TOLERANCES = {"float16": 1e-2, "bfloat16": 5e-2}


def value_of(spec, storages, earlier, made):
    if spec is None or isinstance(spec, bool):
        return spec
    if "int" in spec:
        return spec["int"]
    if "float" in spec:
        return float(spec["float"])
    if "same" in spec:
        return made[spec["same"]]
    build = lambda item: value_of(item, storages, earlier, made)
    if "tuple" in spec:
        return tuple(map(build, spec["tuple"]))
    if "earlier" in spec:
        found = earlier[spec["earlier"]] if spec["earlier"] < len(earlier) else []
        return found[spec["tensor"] % max(len(found), 1)] if found else torch.zeros(4)
    if "storage" in spec:
        value = torch.as_strided(storages[spec["storage"]], spec["shape"], spec["strides"], spec["offset"])
    elif "list" in spec:
        value = list(map(build, spec["list"]))
    else:
        value = collections.OrderedDict((key, build(item)) for key, item in spec["dict"])
    if "id" in spec:
        made[spec["id"]] = value
    return value


class Object:
    """An object of the module: its attributes in the order of its class."""

    def __init__(self, script, names):
        self.script, self.names = script, names

    def items(self):
        return [(name, wrapped(getattr(self.script, name), self.names[name])) for name in self.names]


def wrapped(value, of):
    return Object(value, of) if isinstance(of, dict) else value


def tensors_in(value, found):
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            tensors_in(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            tensors_in(item, found)
    elif isinstance(value, Object):
        for _, item in value.items():
            tensors_in(item, found)
    return found


class Observer:
    def __init__(self):
        self.memory = {}

    def see(self, value):
        if isinstance(value, torch.Tensor):
            storage = value.storage() if not hasattr(value, "untyped_storage") else value.untyped_storage()
            at = self.memory.setdefault(storage.data_ptr(), len(self.memory))
            dtype = str(value.dtype)[6:]
            data = [float(x) for x in value.detach().to(torch.float64).flatten().tolist()]
            return {"dtype": dtype, "shape": list(value.shape), "strides": list(value.stride()), "data": data, "at": at}
        if isinstance(value, (list, tuple)):
            return {"list": [self.see(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[str(key), self.see(item)] for key, item in value.items()]}
        if isinstance(value, Object):
            return {"object": [[name, self.see(item)] for name, item in value.items()]}
        return value


NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def close(a, b, tolerance):
    a, b = (NUMBERS.get(x, x) for x in (a, b))
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance


def difference(found, wanted, path, alike):
    """`found` is ptlite's, `wanted` PyTorch's."""
    if isinstance(wanted, bool) or wanted is None or isinstance(found, bool) or found is None:
        return None if found is wanted else f"{path}: {found} for {wanted}"
    if isinstance(wanted, int) and isinstance(found, str) and re.fullmatch(r"-?\d+", found):
        # ints beyond what a number of JSON holds are texts
        return None if int(found) == wanted else f"{path}: {found} for {wanted}"
    if isinstance(wanted, (int, float)):
        number = NUMBERS.get(found, found) if isinstance(found, str) else found
        if not isinstance(number, (int, float)):
            return f"{path}: {found} for {wanted}"
        return None if close(number, wanted, 1e-4 * max(1, abs(wanted))) else f"{path}: {found} for {wanted}"
    if isinstance(found, str):
        return f"{path}: {found} for {str(wanted)[:80]}"
    if "data" in wanted and "data" in found:
        for part in ("dtype", "shape", "strides"):
            if found[part] != wanted[part]:
                return f"{path}: {part} {found[part]} for {wanted[part]} (shape {wanted['shape']})"
        finite = [abs(x) for x in wanted["data"] if math.isfinite(x)]
        tolerance = TOLERANCES.get(wanted["dtype"], 1e-4) * max([1, *finite])
        for i, (a, b) in enumerate(zip(found["data"], wanted["data"])):
            if not close(a, b, tolerance):
                return f"{path}, element {i}: {a} for {b}"
        # both ways: what shares memory here shares it there
        if wanted["data"] and (alike.setdefault(("there", wanted["at"]), found["at"]), alike.setdefault(("here", found["at"]), wanted["at"])) != (found["at"], wanted["at"]):
            return f"{path}: shares memory with another one"
        return None
    if "list" in wanted and "list" in found:
        if len(found["list"]) != len(wanted["list"]):
            return f"{path}: {len(found['list'])} elements for {len(wanted['list'])}"
        for i, (a, b) in enumerate(zip(found["list"], wanted["list"])):
            if (text := difference(a, b, f"{path}[{i}]", alike)) is not None:
                return text
        return None
    for kind in ("dict", "object"):
        if kind in wanted and kind in found:
            if [key for key, _ in found[kind]] != [key for key, _ in wanted[kind]]:
                return f"{path}: keys {[key for key, _ in found[kind]]} for {[key for key, _ in wanted[kind]]}"
            for (key, a), (_, b) in zip(found[kind], wanted[kind]):
                if (text := difference(a, b, f"{path}.{key}", alike)) is not None:
                    return text
            return None
    return f"{path}: {str(found)[:80]} for {str(wanted)[:80]}"


class Left(Exception):
    """A program cannot be compared any further."""


def fails_in_mobile(program, last):
    """Whether a call fails in the interpreter of mobile modules, which runs every instruction of the converted file."""
    from torch.jit.mobile import _load_for_lite_interpreter

    try:
        module = _load_for_lite_interpreter(io.BytesIO(base64.b64decode(program["ptl"])))
    except RuntimeError as error:
        # a NamedTuple within another type, which it knows as little in files that PyTorch writes
        if "Can't find definition for the type" in str(error):
            raise Left("PyTorch cannot load its own mobile files") from error
        raise
    earlier = []
    for k, call in enumerate(program["calls"][: last + 1]):
        storages = [torch.tensor(s["data"], dtype=DTYPES[s["dtype"]]) for s in call["storages"]]
        made = {}
        args = [value_of(spec, storages, earlier, made) for spec in call["args"]]
        result = None
        try:
            result = module.run_method(call["method"], *args)
        except Exception:
            if k == last:
                return True
            if program["outcomes"][k]["error"] is None:
                raise Left("PyTorch's mobile modules take no such arguments")
        earlier.append(tensors_in(result, []))
    return False


def line_of(text):
    """The line of the innermost function; 0 where the error says none."""
    found = re.findall(r'File "code/__torch__.py", line (\d+)', text)
    return int(found[-1]) if found else 0


def run(program):
    """Where PyTorch differs; None where it does not."""
    try:
        script = torch.jit.load(io.BytesIO(base64.b64decode(program["pt"])))
    except RuntimeError as error:
        if "previously had type" in str(error):
            raise Left("PyTorch refuses the program, whose variables change their types") from error
        raise
    module = Object(script, program["attributes"])
    earlier = []
    for k, (call, seen) in enumerate(zip(program["calls"], program["outcomes"])):
        storages = [torch.tensor(s["data"], dtype=DTYPES[s["dtype"]]) for s in call["storages"]]
        made = {}
        args = [value_of(spec, storages, earlier, made) for spec in call["args"]]
        error, error_text, result = None, "", None
        try:
            result = getattr(module.script, call["method"])(*args)
        except Exception as thrown:  # whatever it is, it is one
            error_text = str(thrown)
            error = error_text.strip().split("\n")[-1]
        tensors = tensors_in(result, [])
        earlier.append(tensors)
        if error is not None and "INTERNAL ASSERT FAILED" in error:
            raise Left("PyTorch fails")
        if error is None and seen["error"] is not None and fails_in_mobile(program, k):
            raise Left("PyTorch leaves out what fails, since nothing uses it")
        if error is not None and seen["line"] is not None and line_of(error_text) > seen["line"]:
            raise Left("PyTorch fails later, since nothing uses what fails first")
        if (error is None) != (seen["error"] is None):
            return f"call {k}: {seen['error'] or 'a result'} for {error or 'a result'}"
        observer, alike = Observer(), {}
        parts = [("result", result), ("args", args), ("attributes", [value for _, value in module.items()])]
        looks = program["looks"] == "always" or k == len(program["calls"]) - 1
        for name, value in parts:
            if name == "attributes" and not looks:
                continue
            wanted, found = observer.see(value), seen[name]
            if name == "args":
                # containers are copies
                pairs = [(i, f, w) for i, (f, w) in enumerate(zip(found["list"], wanted["list"])) if isinstance(w, dict) and "data" in w]
                texts = [difference(f, w, f"args[{i}]", alike) for i, f, w in pairs]
            else:
                texts = [difference(found, wanted, name, alike)]
            for text in texts:
                if text is not None:
                    return f"call {k}: {text}"
        for action in call["after"]:
            values = {"result": tensors, "argument": None, "attribute": None}[action["of"]]
            if values is None:
                values = tensors_in(args if action["of"] == "argument" else [value for _, value in module.items()], [])
            if action["tensor"] < len(values):
                try:
                    values[action["tensor"]].add_(1)
                except RuntimeError:
                    pass
    return None


def main():
    path = sys.argv[1]
    show = int(sys.argv[sys.argv.index("--show") + 1]) if "--show" in sys.argv else 50
    counts, faults, calls, left = collections.Counter(), collections.Counter(), 0, collections.Counter()
    # without passes that leave out what fails where its result is not used
    with torch.no_grad(), torch.jit.optimized_execution(False):
        for line in open(path):
            program = json.loads(line)
            family = program["family"]
            counts[family] += 1
            calls += len(program["calls"])
            try:
                text = run(program)
            except Left as why:
                left[str(why)] += 1
                continue
            except RuntimeError as error:
                text = f"refused: {str(error).strip()[:300]}"
            if text is not None:
                faults[family] += 1
                if sum(faults.values()) <= show:
                    print(f"{family}, seed {program['seed']}: {text}", flush=True)
    for why, count in left.items():
        print(f"{count} programs are compared up to where {why}")
    print(f"PyTorch {torch.__version__}: {sum(counts.values())} programs, {calls} calls, {sum(faults.values())} differ: {dict(faults)}")
    sys.exit(1 if faults else 0)


main()
