"""Records into which buckets T5 of transformers puts distances.

    pip install torch transformers==5.*
    python tests/golden/relative_bias/make.py

Writes expected.json beside this file: per case the numbers of its configuration and the buckets of
the distances -limit to limit.
"""

import json
import pathlib

import torch
from transformers.models.t5.modeling_t5 import T5Attention

HERE = pathlib.Path(__file__).resolve().parent

# (buckets, max_distance, limit)
CASES = [(32, 128, 300), (8, 16, 40), (16, 20, 40), (64, 1024, 1100), (12, 37, 60)]


def record(buckets, max_distance, limit, bidirectional):
    found = T5Attention._relative_position_bucket(
        torch.arange(-limit, limit + 1),
        bidirectional=bidirectional,
        num_buckets=buckets,
        max_distance=max_distance,
    )
    return {
        "buckets": buckets,
        "max_distance": max_distance,
        "bidirectional": bidirectional,
        "limit": limit,
        "expected": found.tolist(),
    }


def main():
    cases = [record(*case, bidirectional) for case in CASES for bidirectional in (False, True)]
    (HERE / "expected.json").write_text(json.dumps(cases) + "\n")


if __name__ == "__main__":
    main()
