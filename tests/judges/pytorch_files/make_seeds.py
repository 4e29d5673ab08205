#!/usr/bin/env python3
"""Makes the files of torch.save in tests/fuzz, of which tests read damaged copies.

    make_seeds.py FOLDER
"""
import collections
import pathlib
import sys

import torch

folder = pathlib.Path(sys.argv[1])
torch.manual_seed(1)
BASE = torch.randn(4, 6)
STATE = collections.OrderedDict([
    ("w", BASE), ("transposed", BASE.t()), ("tied", BASE), ("row", BASE[2]), ("repeated", torch.ones(1, 3).expand(4, 3)),
    ("bf16", BASE[:2].bfloat16()), ("f64", BASE[0].double()), ("count", torch.tensor(3)), ("empty", torch.zeros(0, 2)),
    ("untyped", torch.zeros(3, dtype=torch.uint16)), ("parameter", torch.nn.Parameter(torch.ones(2, 2)))])
STATE._metadata = {"": {"version": 1}}
torch.save(STATE, folder / "state_dict.bin")
torch.save({"epoch": 1, "state_dict": STATE, "hyper_parameters": {"lr": 1e-4, "layers": [1, (2, None)], "name": b"\0\xff"},
            "dtype": torch.bfloat16}, folder / "checkpoint.bin", pickle_protocol=4)
del STATE["untyped"]
torch.save(STATE, folder / "legacy.bin", _use_new_zipfile_serialization=False)
