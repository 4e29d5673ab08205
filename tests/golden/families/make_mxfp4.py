#!/usr/bin/env python3
"""Makes gpt-oss-mxfp4: a tiny random gpt-oss with its experts in MXFP4, as it is published, and the
logits that transformers computes with them in f32.

    venv/bin/python tests/golden/families/make_mxfp4.py
"""
import json
import pathlib

import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from cases import YARN_ROPE, decoder

HERE = pathlib.Path(__file__).parent / "gpt-oss-mxfp4"
EXPERTS, D, F = 3, 64, 32
LENGTHS = [7, 1, 12, 5]
generator = torch.Generator().manual_seed(9)


def blocks(rows, columns):
    shape = (EXPERTS, rows, columns // 32)
    return (torch.randint(0, 256, (*shape, 16), generator=generator, dtype=torch.uint8),
            torch.randint(118, 126, shape, generator=generator, dtype=torch.uint8))


config = hf.GptOssConfig(**decoder(
    hidden_size=D, head_dim=8, intermediate_size=F, num_local_experts=EXPERTS,
    num_experts_per_tok=2, sliding_window=4, rope_parameters=YARN_ROPE | dict(truncate=False)))
model = hf.GptOssForCausalLM(config)
tensors = {}
for name, tensor in model.state_dict().items():
    if name.endswith(("gate_up_proj", "down_proj")):
        out, columns = (2 * F, D) if "gate_up" in name else (D, F)
        tensors[name + "_blocks"], tensors[name + "_scales"] = blocks(out, columns)
        continue
    noise = torch.randn(tensor.shape, generator=generator)
    scale = 1.0 + 0.2 * noise if "norm" in name else 0.2 * noise
    tensors[name] = scale.bfloat16()
HERE.mkdir(exist_ok=True)
config.save_pretrained(HERE)
written = json.loads((HERE / "config.json").read_text())
written["architectures"] = ["GptOssForCausalLM"]
written["quantization_config"] = dict(
    quant_method="mxfp4", modules_to_not_convert=["model.layers.*.self_attn", "lm_head"])
(HERE / "config.json").write_text(json.dumps(written, indent=2) + "\n")
save_file(tensors, HERE / "model.safetensors", {"format": "pt"})

model = hf.GptOssForCausalLM.from_pretrained(
    HERE, dtype=torch.float32, attn_implementation="eager",
    quantization_config=hf.Mxfp4Config(dequantize=True)).eval().float()
texts = [torch.randint(4, config.vocab_size, (n,), generator=generator) for n in LENGTHS]
with torch.no_grad():
    logits = torch.cat([model(input_ids=t[None], use_cache=False).logits[0] for t in texts])
offsets = torch.tensor([0] + LENGTHS).cumsum(0).int()
save_file(dict(input_ids=torch.cat(texts).int(), offsets=offsets, logits=logits.contiguous()),
          HERE / "expected.safetensors")
