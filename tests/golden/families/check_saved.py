#!/usr/bin/env python3
"""Opens a directory that heed wrote in transformers and compares the logits, whatever the family.

    venv/bin/python tests/golden/families/check_saved.py --heed build/heed DIRECTORY...
    venv/bin/python tests/golden/families/check_saved.py --golden tests/golden/families/t5 DIRECTORY

With --heed, both programs read the same random tokens; with --golden, the directory is a saved copy
of that case and its expected.safetensors counts. Prints the greatest difference relative to the
greatest logit (states, of an encoder without a head), and fails when it is 1e-4 or more, or when
transformers lacks a weight or has one to spare.
"""
import argparse
import json
import pathlib
import subprocess

import torch
import transformers
from safetensors.torch import load_file

TOLERANCE = 1e-4


def open_model(folder):
    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    model, info = getattr(transformers, name).from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32, output_loading_info=True)
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
        assert not info.get(kind), f"{folder}: {kind}: {info[kind]}"
    return model.eval()


def outputs(model, tokens, source):
    """[N, V] logits, or [N, D] states where there is no head."""
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            return model(input_ids=source[None], decoder_input_ids=tokens[None]).logits[0]
        found = model(input_ids=tokens[None])
    return (found.logits if "logits" in found else found.last_hidden_state)[0]


def against_heed(model, folder, program):
    generator = torch.Generator().manual_seed(1)
    vocabulary = model.config.vocab_size
    tokens, source = (torch.randint(4, vocabulary, (n,), generator=generator) for n in (11, 7))
    command = [program, "logits", "--model", folder, "--tokens", ",".join(map(str, tokens.tolist()))]
    if model.config.is_encoder_decoder:
        command += ["--source-tokens", ",".join(map(str, source.tolist()))]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return outputs(model, tokens, source), torch.tensor(told["logits"])


def against_golden(model, golden):
    expected = load_file(golden / "expected.safetensors")

    def sequences(ids, offsets):
        bounds = expected[offsets].tolist()
        return [expected[ids][a:b].long() for a, b in zip(bounds, bounds[1:])]

    tokens = sequences("input_ids", "offsets")
    sources = sequences("source_ids", "source_offsets") if "source_ids" in expected else tokens
    found = torch.cat([outputs(model, t, s) for t, s in zip(tokens, sources)])
    return found, expected["logits" if "logits" in expected else "hidden"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reference = parser.add_mutually_exclusive_group(required=True)
    reference.add_argument("--heed", help="the program")
    reference.add_argument("--golden", type=pathlib.Path, help="a folder beside this file")
    parser.add_argument("directories", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    for folder in options.directories:
        model = open_model(folder)
        found, expected = (against_golden(model, options.golden) if options.golden
                           else against_heed(model, folder, options.heed))
        assert found.shape == expected.shape, f"{folder}: {found.shape}, not {expected.shape}"
        difference = ((found - expected).abs().max() / expected.abs().max()).item()
        print(f"{folder}: {type(model).__name__} differs by {difference:.1e}")
        assert difference < TOLERANCE, f"{folder}: expected less than {TOLERANCE}"


main()
