#!/usr/bin/env python3
"""Makes the folders beside this file: LoRA adapters of the models in ../families, written by peft,
and what transformers and peft make of them.

    python3 -m venv venv && venv/bin/pip install torch transformers peft safetensors
    venv/bin/python tests/golden/adapters/make.py [case...]

expected.safetensors holds the logits of the adapted model for the inputs of the family's
expected.safetensors, the loss, and the gradients of all A and B under their names in the adapter's
file. Where there is an adapter.gguf, llama.cpp has made it of the other files:

    venv/bin/python llama.cpp/convert_lora_to_gguf.py --base tests/golden/families/llama3 \\
        --outfile tests/golden/adapters/attention/adapter.gguf tests/golden/adapters/attention
"""
import json
import pathlib
import sys

import torch
import transformers as hf
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent

# For each case: the model's folder, its class, and the settings of the adapter.
CASES = {
    "llama": ("llama3", hf.LlamaForCausalLM,
              dict(r=3, lora_alpha=5, target_modules=["q_proj", "v_proj", "down_proj"],
                   rank_pattern={"down_proj": 2},
                   alpha_pattern={r"layers\.1\.self_attn\.q_proj": 7, "v_proj": 2})),
    # Rows of q_proj and k_proj lie in another order in GGUF files.
    "attention": ("llama3", hf.LlamaForCausalLM,
                  dict(r=2, lora_alpha=3, target_modules=["q_proj", "k_proj", "o_proj"])),
    # c_attn holds q, k and v; all are stored transposed. "c_proj" names two modules of a layer.
    "gpt2": ("gpt2", hf.GPT2LMHeadModel,
             dict(r=4, lora_alpha=3, use_rslora=True, fan_in_fan_out=True,
                  target_modules=["c_attn", "c_proj", "c_fc"])),
    "bert": ("bert", hf.BertForMaskedLM,
             dict(r=2, lora_alpha=4, target_modules=r".*\.(query|value|dense)")),
    "t5": ("t5", hf.T5ForConditionalGeneration,
           dict(r=2, lora_alpha=3, target_modules=["q", "k", "v", "o", "wi", "wo"],
                layers_to_transform=[1], layers_pattern="block")),
    # qkv_proj and gate_up_proj hold several weights as blocks of rows.
    "phi3": ("phi3", hf.Phi3ForCausalLM, dict(r=2, lora_alpha=2, target_modules="all-linear")),
    # query_key_value holds them head by head.
    "gpt-neox": ("gpt-neox", hf.GPTNeoXForCausalLM,
                 dict(r=2, lora_alpha=2, target_modules=["query_key_value", "dense_4h_to_h"])),
    # With the adapter of the head, peft saves the head itself.
    "head": ("llama3", hf.LlamaForCausalLM,
             dict(r=2, lora_alpha=4, target_modules=["lm_head", "o_proj"])),
}


def split(flat, offsets):
    return [flat[a:b].long() for a, b in zip(offsets, offsets[1:])]


def outputs(model, inputs):
    """The logits of all texts, and the loss that tests/checkpoint/adapter_golden_test.cc takes."""
    texts = split(inputs["input_ids"], inputs["offsets"].tolist())
    if "source_ids" in inputs:
        sources = split(inputs["source_ids"], inputs["source_offsets"].tolist())
        logits = [model(input_ids=s[None], decoder_input_ids=t[None]).logits[0]
                  for s, t in zip(sources, texts)]
        loss = cross_entropy(torch.cat(logits), inputs["targets"].long(), reduction="sum")
    else:
        logits = [model(input_ids=t[None]).logits[0] for t in texts]
        if "mlm_rows" in inputs:
            loss = cross_entropy(torch.cat(logits)[inputs["mlm_rows"].long()],
                                 inputs["mlm_targets"].long(), reduction="sum")
        else:
            loss = sum(cross_entropy(l[:-1], t[1:], reduction="sum")
                       for l, t in zip(logits, texts) if len(t) > 1)
    return torch.cat(logits), loss


def make(name):
    base, kind, settings = CASES[name]
    inputs = load_file(HERE.parent / "families" / base / "expected.safetensors")
    model = kind.from_pretrained(HERE.parent / "families" / base, attn_implementation="eager")
    adapted = get_peft_model(model.float().eval(), LoraConfig(**settings)).eval()
    generator = torch.Generator().manual_seed(7)
    for parameter_name, parameter in adapted.named_parameters():
        if "lora_" in parameter_name:
            parameter.data = 0.4 * torch.randn(parameter.shape, generator=generator)
    logits, loss = outputs(adapted, inputs)
    plain = outputs(kind.from_pretrained(HERE.parent / "families" / base,
                                         attn_implementation="eager").float().eval(), inputs)[0]
    assert (logits - plain).abs().max() > 0.05 * plain.abs().max(), "the adapter changes too little"
    loss.backward()
    folder = HERE / name
    adapted.save_pretrained(folder)
    (folder / "README.md").unlink()
    config = json.loads((folder / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = base
    if isinstance(config["target_modules"], list):  # written from a set
        config["target_modules"].sort()
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    expected = {"logits": logits, "loss": loss.reshape(1)}
    for parameter_name, parameter in adapted.named_parameters():
        if "lora_" in parameter_name:
            expected["gradient." + parameter_name.replace(".default", "")] = parameter.grad
    save_file({k: v.detach().clone().contiguous() for k, v in expected.items()},
              folder / "expected.safetensors")
    print(name, len(expected) - 2, "matrices")


for case in sys.argv[1:] or CASES:
    make(case)
