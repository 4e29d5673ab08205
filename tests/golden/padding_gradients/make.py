#!/usr/bin/env python3
"""Makes expected.json beside this file: what the row of the padding token gets as a gradient in the
models of ../families, when it is looked up.

    venv/bin/pip install torch transformers
    venv/bin/python tests/golden/padding_gradients/make.py

The loss is half the sum of the squares of the last hidden states, of the encoder where there is one.
A model whose configuration has no padding token gets PAD. "row" is empty where the gradient is zero.
"""
import json
import pathlib

import torch
import transformers as hf

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
PAD = 3
FAMILIES = [
    "bart", "bert", "deepseek-v2", "deepseek-v3", "distilbert", "gemma", "gemma2", "gemma3", "gpt-neox",
    "gpt-oss", "gpt2", "granite", "llama3", "marian", "mistral", "mixtral", "modernbert", "mpnet", "mt5",
    "nomic-bert", "olmo2", "pegasus", "phi3", "qwen2", "qwen3", "qwen3-moe", "roberta", "smollm3", "t5",
    "xlm-roberta"]


def row_of(name):
    folder = HERE.parent / "families" / name
    config = hf.AutoConfig.from_pretrained(folder)
    if config.pad_token_id is None:
        config.pad_token_id = PAD
    model = hf.AutoModel.from_pretrained(folder, config=config, attn_implementation="eager",
                                         dtype=torch.float32).eval()
    if config.is_encoder_decoder:
        model = model.get_encoder()
    pad = config.pad_token_id
    states = model(input_ids=torch.tensor([[11, pad, 12, 13, pad, 14]])).last_hidden_state
    (states.square().sum() / 2).backward()
    row = model.get_input_embeddings().weight.grad[pad]
    return dict(pad=pad, row=row.tolist() if row.abs().max() > 0 else [])


expected = {name: row_of(name) for name in FAMILIES}
(HERE / "expected.json").write_text(
    "{\n" + ",\n".join(f'"{name}": {json.dumps(row)}' for name, row in expected.items()) + "\n}\n")
print([name for name, row in expected.items() if row["row"]], "learn from it")
