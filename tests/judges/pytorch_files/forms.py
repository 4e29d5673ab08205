#!/usr/bin/env python3
"""Files of torch.save in every form beside what torch reads from them.

    forms.py READ_PYTORCH_FILE

Saves dicts of tensors (views, shared storages, each dtype, empty, 0-d, parameters, a module's state dict, a checkpoint) in
the zip archive and in the format before it, with the pickle protocols 1 (archives alone) to 5. `read_pytorch_file` must write the elements
that torch has, bit for bit, 64-bit ones as it converts them, and must refuse by its name what heed does not read. Exits with
1 if anything differs.
"""
import collections
import pathlib
import subprocess
import sys
import tempfile
import warnings

import safetensors.torch
import torch

warnings.filterwarnings("ignore")
torch.manual_seed(1)

BASE = torch.randn(6, 8)
EMBEDDING = torch.nn.Embedding(7, 4)


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(7, 4)
        self.norm = torch.nn.BatchNorm1d(4)  # num_batches_tracked: 0-d, of 64 bits
        self.head = torch.nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight


FORMS = {
    "plain": {"w": BASE, "v": torch.arange(5.0)},
    "views": {"rows": BASE[2:5], "columns": BASE[:, 3:5], "transposed": BASE.t(), "steps": BASE[::2, 1::3],
              "permuted": torch.randn(2, 3, 4, 5).permute(3, 1, 0, 2), "row": BASE[4], "element": BASE[3, 3],
              "diagonal": BASE.diagonal(), "windows": BASE.flatten().unfold(0, 4, 2), "whole": BASE},
    "expanded": {"w": torch.randn(1, 9).expand(5, 9), "all": torch.tensor(2.0).expand(3, 4)},
    "shared": {"a": BASE, "b": BASE, "c": BASE.view(8, 6), "d": BASE.flatten()[8:]},
    "empty": {"e": torch.zeros(0), "f": torch.zeros(0, 4), "g": torch.zeros(3, 0, 2), "w": BASE},
    "0-d": {"s": torch.tensor(3.5), "i": torch.tensor(7), "b": torch.tensor(1.5, dtype=torch.bfloat16)},
    "bf16": {"w": BASE.bfloat16(), "t": BASE.bfloat16().t(), "v": BASE[0].bfloat16()},
    "f16": {"w": BASE.half(), "t": BASE.half().t()},
    "f64": {"w": BASE.double(), "t": BASE.double().t()},
    "integers": {"i": torch.randint(-2**31, 2**31 - 1, (4, 4)), "j": torch.randint(-9, 9, (4, 4), dtype=torch.int32)},
    "special": {"w": torch.tensor([[float("nan"), float("inf"), -0.0, 1e-45]])},
    "parameters": {"p": torch.nn.Parameter(BASE), "q": torch.nn.Parameter(BASE.bfloat16(), requires_grad=False)},
    "state dict": Tied().state_dict(),
    "module keys": collections.OrderedDict([("a.b.c", BASE), ("naïve", BASE[0])]),
    "checkpoint": {"state_dict": {"w": BASE, "tied": BASE}, "epoch": 3, "global_step": 2**40, "lr": 1e-4,
                   "hyper_parameters": {"name": "x", "layers": [1, 2, (3, None)], "flag": True, "raw": b"\0\xff bytes",
                                        "dtype": torch.bfloat16, "nested": collections.OrderedDict(a=[{}, ()])},
                   "optimizer_states": [{"state": {0: {"step": torch.tensor(1.0), "exp_avg": BASE}}}]},
    "model": {"model": {"w": BASE}, "args": {"lr": 0.1}},
    "many": {f"layer.{i}": torch.randn(3, 3) for i in range(2000)},
    "large integer": {"w": BASE, "n": 2**90},  # protocol 1 writes it in decimal digits, which heed refuses
    "recursive": None,  # below
}
loop = ["x"]
loop.append(loop)
FORMS["recursive"] = {"w": BASE, "loop": loop}

# What heed refuses, and the name that its message has.
REFUSED = {
    "complex": ({"w": torch.zeros(2, 2, dtype=torch.complex64)}, "w is complex64"),
    "conjugate": ({"w": torch.randn(2, dtype=torch.complex64).conj()}, "metadata"),
    "uint16": ({"w": torch.zeros(2, 2, dtype=torch.uint16)}, "w is uint16"),
    "uint8": ({"w": torch.zeros(2, 2, dtype=torch.uint8)}, "w is uint8"),
    "bool": ({"w": torch.zeros(2, 2, dtype=torch.bool)}, "w is bool"),
    "float8": ({"w": torch.zeros(2, 2, dtype=torch.float8_e4m3fn)}, "w is float8_e4m3fn"),
    "large integers": ({"w": torch.full((2, 2), 2**40)}, "w holds 1099511627776"),
    "five axes": ({"w": torch.zeros(1, 1, 1, 1, 1)}, "a tensor has 5 axes"),
    "sparse": ({"w": torch.eye(3).to_sparse()}, "torch._utils._rebuild_sparse_tensor"),
    "quantised": ({"w": torch.quantize_per_tensor(BASE, 0.1, 0, torch.qint8)}, "torch._utils._rebuild_qtensor"),
    "meta": ({"w": torch.zeros(2, device="meta")}, "torch._utils._rebuild_meta_tensor_no_storage"),
    "module": (torch.nn.Linear(2, 2), ("torch.nn.modules.linear.Linear", "copy_reg._reconstructor")),
    "device": ({"w": BASE, "d": torch.device("cpu")}, "torch.device"),
    "size": ({"w": BASE, "d": BASE.shape}, "torch.Size"),
    "set": ({"w": BASE, "d": {1, 2}}, ("EMPTY_SET", "__builtin__.set", "builtins.set")),
    "path": ({"w": BASE, "d": pathlib.PurePosixPath("a")}, "pathlib.PurePosixPath"),
    "default dict": ({"w": BASE, "d": collections.defaultdict(dict)}, "collections.defaultdict"),
    "list": ([BASE], "holds a list"),
    "tensor": (BASE, "holds a tensor"),
}
CONVERTED = {torch.float64: torch.float32, torch.int64: torch.int32}


def formats():
    for protocol in (1, 2, 3, 4, 5):
        for zipped in (True, False):
            if protocol == 1 and not zipped:
                continue  # its magic number is in decimal digits
            yield f"{'zip' if zipped else 'legacy'}, protocol {protocol}", {
                "pickle_protocol": protocol, "_use_new_zipfile_serialization": zipped}


def state_dict_of(value):
    for key in ("state_dict", "model"):
        if isinstance(value.get(key), dict):
            value = value[key]
    return {k: v.detach() for k, v in value.items() if isinstance(v, torch.Tensor)}


def bits(tensor):
    tensor = tensor.to(CONVERTED.get(tensor.dtype, tensor.dtype)).contiguous()
    return tensor.dtype, tuple(tensor.shape), tensor.flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def main():
    program = sys.argv[1]
    compared = refused = bad = 0

    def fail(message):
        nonlocal bad
        bad += 1
        print("FAIL", message)

    with tempfile.TemporaryDirectory() as directory:
        path, out = pathlib.Path(directory, "m.bin"), pathlib.Path(directory, "out.safetensors")
        for format_name, options in formats():
            for name, value in FORMS.items():
                if name == "large integer" and options["pickle_protocol"] == 1:
                    continue
                try:
                    torch.save(value, path, **options)
                except Exception as error:
                    print(f"torch itself does not save {name} as {format_name}: {error}")
                    continue
                out.unlink(missing_ok=True)
                done = subprocess.run([program, path, out], capture_output=True, text=True)
                if done.returncode:
                    fail(f"{name}, {format_name}: {done.stderr.strip()}")
                    continue
                found = safetensors.torch.load_file(out)
                expected = state_dict_of(torch.load(path, weights_only=False))
                if found.keys() != expected.keys():
                    fail(f"{name}, {format_name}: {sorted(found)} instead of {sorted(expected)}")
                for key in found.keys() & expected.keys():
                    compared += 1
                    if bits(found[key]) != bits(expected[key]):
                        fail(f"{name}, {format_name}: {key} differs")
            for name, (value, wanted) in REFUSED.items():
                wanted = (wanted,) if isinstance(wanted, str) else wanted
                try:
                    torch.save(value, path, **options)
                except Exception as error:
                    print(f"torch itself does not save {name} as {format_name}: {error}")
                    continue
                done = subprocess.run([program, path], capture_output=True, text=True)
                refused += 1
                if done.returncode != 1 or not any(w in done.stderr for w in wanted) or done.stderr.count("\n") != 1:
                    fail(f"{name}, {format_name}: status {done.returncode}, {done.stderr.strip() or 'read'}")
    print(f"torch {torch.__version__}: {compared} tensors compared, {refused} files refused, {bad} differences")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
