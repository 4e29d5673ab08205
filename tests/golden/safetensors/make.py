#!/usr/bin/env python3
"""Makes the reference files beside this one with the safetensors package.

all_dtypes.safetensors: one small tensor of every dtype that heed reads, and two that it skips.
expected.json: name -> shape and elements, as the package reads them.
Then checks that the package reads written_by_heed.safetensors, which tests/io/safetensors_test.cc
compares with what heed writes byte by byte.

    python3 -m venv venv && venv/bin/pip install torch safetensors numpy
    venv/bin/python tests/golden/safetensors/make.py
"""
import json
import pathlib

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

HERE = pathlib.Path(__file__).parent


def reference_tensors():
    numbers = torch.tensor([[0.0, -0.0, 1.0, -2.5], [0.1, 65504.0, 6.0e-8, -1.0e-3]])
    return {
        "f32": numbers * 1.5,
        "bf16": numbers.to(torch.bfloat16),
        "f16": numbers.to(torch.float16),
        "f16.special": torch.tensor([2.0**-14, 2.0**-24, 1023 * 2.0**-24, float("inf"),
                                     float("-inf")]).to(torch.float16),
        "f64": numbers.to(torch.float64) / 3,
        "i32": torch.tensor([2**31 - 1, -(2**31), 0], dtype=torch.int32),
        "i64": torch.tensor([[2**31 - 1], [-(2**31)]], dtype=torch.int64),
        "scalar": torch.tensor(7.25),
        "empty": torch.zeros(0, 3),
        "four.axes": torch.arange(24, dtype=torch.float32).reshape(1, 2, 3, 4),
        "skipped.bool": torch.tensor([True, False, True]),
        "skipped.u8": torch.arange(5, dtype=torch.uint8),
    }


def main():
    tensors = reference_tensors()
    save_file(tensors, HERE / "all_dtypes.safetensors", metadata={"format": "pt", "note": "ünï"})
    expected = {}
    for name, tensor in load_file(HERE / "all_dtypes.safetensors").items():
        if not name.startswith("skipped"):
            wide = tensor.float() if tensor.is_floating_point() else tensor
            expected[name] = {"shape": list(tensor.shape),
                              "elements": [str(x) for x in wide.flatten().tolist()]}
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")

    with safe_open(HERE / "written_by_heed.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt", "step": "3"}, file.metadata()
        assert sorted(file.keys()) == ["a", "b", "ids", "none", "one"]
        a, b = file.get_tensor("a"), file.get_tensor("b")
        assert torch.equal(a, torch.tensor([[0.5, -1.0, 2.0]])) and a.dtype == torch.float32
        assert torch.equal(b, torch.tensor([1.5, 3.0], dtype=torch.bfloat16)), b
        ids = file.get_tensor("ids")
        assert torch.equal(ids, torch.tensor([7, -8], dtype=torch.int32)), ids
        assert file.get_tensor("none").shape == (0, 2) and file.get_tensor("one").shape == ()
    print("written_by_heed.safetensors is read as it should be")


if __name__ == "__main__":
    main()
