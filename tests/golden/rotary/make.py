"""Records the rotary angles of transformers for every scaling of the frequencies.

    pip install torch transformers==5.*
    python tests/golden/rotary/make.py

Writes expected.json beside this file: per case the settings under their names in config.json, the
frequencies, the attention factor, and cosines and sines (of one half) for some positions.
"""

import json
import pathlib

import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

HERE = pathlib.Path(__file__).resolve().parent
POSITIONS = [0, 1, 17, 4095]

# Name: (columns of a head, longest sequence, rope_parameters)
CASES = {
    "none": (64, 2048, {"rope_type": "default", "rope_theta": 10000.0}),
    "large_theta": (128, 8192, {"rope_type": "default", "rope_theta": 500000.0}),
    "narrow": (6, 2048, {"rope_type": "default", "rope_theta": 10000.0}),
    "linear": (64, 8192, {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}),
    "llama3.1": (
        128,
        131072,
        {
            "rope_type": "llama3",
            "rope_theta": 500000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    ),
    "llama3.2": (
        64,
        131072,
        {
            "rope_type": "llama3",
            "rope_theta": 500000.0,
            "factor": 32.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    ),
    "yarn": (
        128,
        131072,
        {
            "rope_type": "yarn",
            "rope_theta": 1000000.0,
            "factor": 4.0,
            "original_max_position_embeddings": 32768,
        },
    ),
    "yarn_deepseek_v2": (
        64,
        163840,
        {
            "rope_type": "yarn",
            "rope_theta": 10000.0,
            "factor": 40.0,
            "beta_fast": 32,
            "beta_slow": 1,
            "mscale": 0.707,
            "mscale_all_dim": 0.5,
            "original_max_position_embeddings": 4096,
        },
    ),
    "yarn_not_truncated": (
        64,
        131072,
        {
            "rope_type": "yarn",
            "rope_theta": 150000.0,
            "factor": 32.0,
            "beta_fast": 24,
            "beta_slow": 2,
            "truncate": False,
            "attention_factor": 1.25,
            "original_max_position_embeddings": 4096,
        },
    ),
    "yarn_without_factor": (
        32,
        16384,
        {
            "rope_type": "yarn",
            "rope_theta": 10000.0,
            "factor": None,
            "original_max_position_embeddings": 2048,
        },
    ),
}


# The same for texts of this length.
LONG = {
    "dynamic": (64, 2048, {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0}, 6000),
    "longrope": (
        8,
        131072,
        {
            "rope_type": "longrope",
            "rope_theta": 10000.0,
            "factor": 32.0,
            "original_max_position_embeddings": 4096,
            "short_factor": [1.0, 1.05, 1.25, 2.0],
            "long_factor": [1.08, 4.5, 31.5, 64.75],
        },
        4097,
    ),
}


def rounded(tensor):
    """The f32 numbers, as short as they can be told apart from their neighbours."""
    return [float(f"{number:.9g}") for number in tensor.flatten().tolist()]


def record(width, max_positions, parameters, context=None):
    """`context`: the length of the text, which is max_position_embeddings in the record."""
    config = LlamaConfig(
        hidden_size=4 * width,
        num_attention_heads=4,
        head_dim=width,
        max_position_embeddings=max_positions,
        rope_parameters=dict(parameters),
    )
    rotary = LlamaRotaryEmbedding(config)
    # The longest position makes the frequencies those of the context; it is not recorded.
    positions = POSITIONS + ([context - 1] if context else [])
    cos, sin = (t[:, :len(POSITIONS)] for t in rotary(torch.zeros(1), torch.tensor([positions])))
    half = width // 2
    original = {"original_max_position_embeddings": max_positions} if context else {}
    return {
        "head_dim": width,
        "max_position_embeddings": context or max_positions,
        "rope_parameters": original | {k: v for k, v in parameters.items() if v is not None},
        "frequencies": rounded(rotary.inv_freq),
        "attention_factor": float(rotary.attention_scaling),
        "cos": rounded(cos[0, :, :half]),
        "sin": rounded(sin[0, :, :half]),
    }


def main():
    expected = {
        "positions": POSITIONS,
        "cases": {name: record(*case) for name, case in (CASES | LONG).items()},
    }
    (HERE / "expected.json").write_text(json.dumps(expected, indent=None) + "\n")


if __name__ == "__main__":
    main()
