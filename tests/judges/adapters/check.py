#!/usr/bin/env python3
"""Trains models and LoRA adapters of them with heed, and opens the adapters with Python's peft: the logits
must be equal within 1e-4.

    python3 -m venv venv && venv/bin/pip install torch transformers peft safetensors sentencepiece
    venv/bin/python tests/judges/adapters/check.py build/release/heed
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import peft
import torch
import transformers

TOLERANCE = 1e-4
SMALL = {"model.d_model": 48, "vocabulary.size": 320, "run.max_steps": 2, "run.minutes": 0,
         "run.num_train_epochs": 0, "validation.samples": 0}
TEXT, PAIRS = ["--text", "text"], ["--source", "text", "--target", "text"]
GPT2 = {"model.family": "gpt2", "model.num_key_value_heads": 0, "model.is_gated_act": False,
        "model.hidden_act": "gelu_new", "model.norm": "layer", "model.qkv_bias": True,
        "model.o_bias": True, "model.mlp_bias": True, "model.position_embedding_type": "learned"}
NEOX = GPT2 | {"model.family": "gpt_neox", "model.position_embedding_type": "rotary",
               "model.use_parallel_residual": True}
PHI3 = {"model.family": "phi3"}
# For each case: preset, task, its texts, settings of the model and of the adapter.
CASES = {
    "llama": ("llama-tiny", "causal-lm", TEXT, {}, {"lora.layers": "[1]", "lora.rank": 3}),
    "gpt2": ("llama-tiny", "causal-lm", TEXT, GPT2, {"lora.use_rslora": True}),
    "gpt-neox": ("llama-tiny", "causal-lm", TEXT, NEOX, {}),
    "phi3": ("llama-tiny", "causal-lm", TEXT, PHI3, {"lora.target_modules": "qkv_proj,down_proj"}),
    "bert": ("bert-tiny", "masked-lm", TEXT, {}, {"lora.target_modules": ".*(query|dense)"}),
    "t5": ("t5-tiny", "text-to-text", PAIRS, {}, {}),
}


def train(heed, folder, arguments, settings):
    sets = [word for key, value in settings.items()
            for word in ("--set", f"{key}={str(value).lower() if value in (True, False) else value}")]
    result = subprocess.run([heed, "train", *arguments, *sets], cwd=folder, capture_output=True,
                            text=True)
    assert result.returncode == 0, result.stderr[-2000:]


def difference(heed, folder):
    config = json.loads((folder / "base/config.json").read_text())
    model = getattr(transformers, config["architectures"][0]).from_pretrained(
        folder / "base", dtype=torch.float32, attn_implementation="eager").eval()
    plain = [5, 9, 40, 7, 31]
    inputs = {"input_ids": torch.tensor([plain])}
    command = [heed, "logits", "--model", "base", "--adapter", "adapter", "--tokens", "5,9,40,7,31"]
    if model.config.is_encoder_decoder:
        inputs = {"input_ids": torch.tensor([[8, 3, 77]]), "decoder_input_ids": inputs["input_ids"]}
        command += ["--source-tokens", "8,3,77"]
    with torch.no_grad():
        before = model(**inputs).logits[0]
        adapted = peft.PeftModel.from_pretrained(model, folder / "adapter").eval()
        expected = adapted(**inputs).logits[0]
    changed = ((expected - before).abs().max() / expected.abs().max()).item()
    assert changed > 0.01, f"the adapter changes the logits by {changed} only"
    told = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    found = torch.tensor(json.loads(told)["logits"])
    return ((found - expected).abs().max() / expected.abs().max()).item()


def main():
    heed = str(pathlib.Path(sys.argv[1]).resolve())
    worst = 0
    for name, (preset, task, texts, model, lora) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "text").write_text("".join(
                f"the {i} sheep went in and {i * 7 % 13} goats came out\n" for i in range(80)))
            train(heed, folder, ["--task", task, *texts, "--preset", preset, "--out", "base"],
                  SMALL | model)
            train(heed, folder, ["--task", task, *texts, "--from", "base", "--lora", "--out", "adapter"],
                  {"run.max_steps": 8, "run.num_train_epochs": 0, "optimizer.learning_rate": 0.02,
                   "validation.samples": 0, "run.compute": "f32"} | lora)
            found = difference(heed, folder)
        worst = max(worst, found)
        print(f"{name}: logits differ by {found:.1e}")
    sys.exit(worst >= TOLERANCE)


main()
