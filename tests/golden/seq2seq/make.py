#!/usr/bin/env python3
"""Makes the reference outputs beside this file with PyTorch and transformers.

Small random Marian (post-norm) and Pegasus (pre-norm) models: config.json and model.safetensors as
transformers writes them, and expected.safetensors with what the reference computes for three sentence
pairs of different lengths: logits, the label-smoothed loss, the gradient of every parameter, and the
losses of ten steps of Adam.

    python3 -m venv venv && venv/bin/pip install torch transformers safetensors numpy
    venv/bin/python tests/golden/seq2seq/make.py
"""
import pathlib
import shutil
import tempfile

import torch
from safetensors.torch import save_file
from transformers import (MarianConfig, MarianMTModel, PegasusConfig,
                          PegasusForConditionalGeneration)

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
PAIRS = [([5, 9, 12, 1], [7, 3, 30, 31, 1]), ([4, 1], [8, 1]),
         ([6, 6, 17, 22, 35, 2, 11, 1], [9, 10, 11, 1])]
SIZES = dict(vocab_size=37, d_model=16, encoder_layers=2, decoder_layers=2,
             encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=24,
             decoder_ffn_dim=24, max_position_embeddings=32, pad_token_id=0, eos_token_id=1,
             decoder_start_token_id=2, scale_embedding=True, dropout=0.0, attention_dropout=0.0,
             activation_dropout=0.0)
SMOOTHING = 0.1
# Not the padding token: PyTorch's Embedding learns nothing for that one when it is looked up.
START = 2


def randomize(model):
    generator = torch.Generator().manual_seed(3)
    for name, parameter in model.named_parameters():
        spread = 0.3 if parameter.dim() > 1 else 0.1
        offset = 1.0 if "norm.weight" in name else 0.0
        if "embed_positions" not in name:
            parameter.data = torch.randn(parameter.shape, generator=generator) * spread + offset
    model.final_logits_bias = torch.randn(model.final_logits_bias.shape, generator=generator) * 0.1


def logits_of(model, source, target):
    decoder_input = torch.tensor([[START] + target[:-1]])
    return model(input_ids=torch.tensor([source]), decoder_input_ids=decoder_input).logits[0]


def mean_loss(model):
    losses = [torch.nn.functional.cross_entropy(logits_of(model, source, target),
                                                torch.tensor(target), label_smoothing=SMOOTHING,
                                                reduction="sum") for source, target in PAIRS]
    return sum(losses) / sum(len(target) for _, target in PAIRS)


def reference(model):
    outputs = {f"logits.{index}": logits_of(model, *pair).detach().clone().contiguous()
               for index, pair in enumerate(PAIRS)}
    # A buffer in transformers, learned by heed.
    model.final_logits_bias.requires_grad_(True)
    learned = {name: parameter for name, parameter in model.named_parameters()
               if "embed_positions" not in name}
    learned["final_logits_bias"] = model.final_logits_bias
    optimizer = torch.optim.Adam(learned.values(), lr=1e-2, betas=(0.9, 0.98), eps=1e-9)
    trajectory = []
    for step in range(10):
        optimizer.zero_grad()
        loss = mean_loss(model)
        loss.backward()
        trajectory.append(loss.item())
        if step == 0:
            for name, parameter in learned.items():
                outputs["gradient." + name] = parameter.grad.clone().contiguous()
        optimizer.step()
    outputs["losses"] = torch.tensor(trajectory)
    return outputs


def make(name, model):
    torch.manual_seed(1)
    model = model.eval().float()
    randomize(model)
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        model.save_pretrained(temporary)
        for file in ("config.json", "model.safetensors"):
            shutil.copy(pathlib.Path(temporary) / file, folder / file)
    save_file(reference(model), folder / "expected.safetensors")


make("marian", MarianMTModel(MarianConfig(**SIZES, activation_function="swish")))
make("pegasus", PegasusForConditionalGeneration(PegasusConfig(**SIZES, activation_function="relu")))
