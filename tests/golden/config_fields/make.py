#!/usr/bin/env python3
"""Makes expected.json: golden checkpoints of ../families with other fields and tensors, and the logits of transformers.

A case has "checkpoint", "fields" that replace those of its config.json, "without" (fields that are removed), "tensors"
({name: [copied from, factor]}), "prefix" (removed from all names) and the logits of the last token.

    venv/bin/python tests/golden/config_fields/make.py
"""
import json
import pathlib
import shutil
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file

HERE = pathlib.Path(__file__).parent
FAMILIES = HERE.parent / "families"
TOKENS = [5, 9, 12, 7, 30, 4, 18, 25, 11]
SOURCE = [6, 8, 13, 21, 5]
LINEAR = {"rope_type": "linear", "factor": 4.0}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 4.0}
DECODERS = ["deepseek-v2", "deepseek-v3", "gemma2", "gemma3", "gpt-neox", "gpt-oss", "gpt2", "granite", "llama3",
            "mistral", "mixtral", "olmo2", "phi3", "qwen2", "qwen2-window", "qwen3", "qwen3-moe", "smollm3"]


def case(checkpoint, name, fields=None, without=(), tensors=None, prefix=""):
    return {"name": f"{checkpoint}: {name}", "checkpoint": checkpoint, "fields": fields or {}, "without": list(without),
            "tensors": tensors or {}, "prefix": prefix}


CASES = [
    *[case(decoder, "not causal", {"is_causal": False}) for decoder in DECODERS],
    case("gemma3", "bidirectional", {"use_bidirectional_attention": True}),
    case("llama2", "rope_scaling beside rope_parameters", {"rope_scaling": LINEAR}),
    case("qwen2", "a card's yarn", {"rope_scaling": YARN}),
    case("gemma3", "rope_scaling beside rope_parameters", {"rope_scaling": LINEAR}),
    case("gpt-neox", "rope_scaling beside rope_parameters", {"rope_scaling": LINEAR}),
    case("llama2", "the older base beside rope_parameters", {"rope_theta": 70.0}),
    case("gpt-oss", "without rotary fields", without=["rope_parameters", "rope_scaling", "rope_theta"]),
    case("bert", "a bias of the decoder's own",
         tensors={"cls.predictions.decoder.bias": ["cls.predictions.bias", 3.0]}),
    case("roberta", "a bias of the decoder's own", tensors={"lm_head.decoder.bias": ["lm_head.bias", 3.0]}),
    case("llama2", "another head than the tied one", {"tie_word_embeddings": True}),
    case("gpt2", "another head than the tied one", tensors={"lm_head.weight": ["transformer.wte.weight", 2.0]}),
    case("marian", "another table of sources",
         tensors={"model.encoder.embed_tokens.weight": ["model.shared.weight", 2.0],
                  "model.decoder.embed_tokens.weight": ["model.shared.weight", 1.0]}),
    case("t5", "outputs that are not scaled", {"scale_decoder_outputs": False}),
    case("t5", "an activation beside its description", {"dense_act_fn": "silu"}),
    case("modernbert", "both windows", {"local_attention": 8, "sliding_window": 2}),
    case("llama2", "names without a prefix", prefix="model."),
]


def edit(own, folder):
    source = FAMILIES / own["checkpoint"]
    config = json.loads((source / "config.json").read_text())
    config.update(own["fields"])
    for field in own["without"]:
        config.pop(field, None)
    (folder / "config.json").write_text(json.dumps(config))
    tensors = load_file(source / "model.safetensors")
    for name, (like, factor) in own["tensors"].items():
        tensors[name] = tensors[like] * factor
    save_file({name.removeprefix(own["prefix"]): tensor.clone() for name, tensor in tensors.items()},
              folder / "model.safetensors", {"format": "pt"})
    return config


def logits(folder, config):
    kind = config["architectures"][0]
    cls = getattr(transformers, kind)
    model = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokens = torch.tensor([TOKENS])
    with torch.no_grad():
        if config.get("is_encoder_decoder"):
            return model(input_ids=torch.tensor([SOURCE]), decoder_input_ids=tokens).logits[0, -1]
        return model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits[0, -1]


def main():
    transformers.utils.logging.disable_progress_bar()
    result = []
    for own in CASES:
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            config = edit(own, folder)
            own["logits"] = [round(x, 6) for x in logits(folder, config).tolist()]
        result.append(own)
        print(own["name"])
    lines = ",\n ".join(json.dumps(own) for own in result)
    (HERE / "expected.json").write_text(f'{{"tokens": {TOKENS}, "source": {SOURCE}, "cases": [\n {lines}\n]}}\n')


if __name__ == "__main__":
    main()
