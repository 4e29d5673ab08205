#!/usr/bin/env python3
"""Makes the folders beside this file: modules of sentence-transformers after the Transformer of ../encoders/embed-bert.

Each has modules.json, the folders of the modules and expected.json: the "embeddings" that SentenceTransformer.encode
gives of the texts of embed-bert, with the "arguments" of a second call and its "encoded".

    python3 -m venv venv
    venv/bin/pip install torch transformers sentence-transformers==6.2.0
    venv/bin/python tests/golden/embedding_modules/make.py
"""
import json
import pathlib
import shutil
import tempfile

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import Dropout, LayerNorm, Pooling, Transformer
from torch import nn

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
BASE = HERE.parent / "encoders/embed-bert"
TEXTS = json.loads((BASE / "expected.json").read_text())["texts"]
MODES = ["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
ACTIVATIONS = [nn.Identity, nn.Tanh, nn.Sigmoid, nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.SELU, nn.GELU, nn.SiLU,
               nn.Mish, nn.Softplus, nn.Softsign]


def random(module, seed=3):
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) * 0.4
    return module


def round_numbers(vectors):
    return [[round(x, 7) for x in vector] for vector in vectors.tolist()]


def case(name, modules, arguments=None, prompts=None, safetensors=True, truncate_dim=None, **more):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        bare = pathlib.Path(scratch) / "bare"
        bare.mkdir()
        for file in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
            shutil.copy(BASE / file, bare)
        transformer = Transformer(str(bare), model_kwargs=dict(attn_implementation="eager"))
        encoder = SentenceTransformer(modules=[transformer, *modules], device="cpu", prompts=prompts, **more)
        encoder.truncate_dim = truncate_dim
        encoder.save(scratch + "/saved", create_model_card=False, safe_serialization=safetensors)
        folder.mkdir()
        for entry in pathlib.Path(scratch, "saved").iterdir():
            if entry.is_dir():
                shutil.copytree(entry, folder / entry.name)
            elif entry.name in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
                shutil.copy(entry, folder)
        settings = folder / "config_sentence_transformers.json"
        if truncate_dim:
            settings.write_text(json.dumps(json.loads(settings.read_text()) | dict(truncate_dim=truncate_dim), indent=1))
        expected = dict(embeddings=round_numbers(encoder.encode(TEXTS, batch_size=1)))
        if arguments:
            expected |= dict(arguments=arguments, encoded=round_numbers(encoder.encode(TEXTS, batch_size=1, **arguments)))
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")


def main():
    case("poolings", [Pooling(16, MODES)])
    case("dense", [Pooling(16, "mean"), random(Dense(16, 12)), Normalize()], dict(truncate_dim=5))
    case("dense-bin", [Pooling(16, "mean"), random(Dense(16, 12))], safetensors=False)
    case("dense-twice", [Pooling(16, "mean"), random(Dense(16, 32, bias=False, activation_function=nn.Identity())),
                         random(Dense(32, 16, bias=False, activation_function=nn.GELU(), use_residual=True)), Normalize()])
    case("residual", [Pooling(16, ["max", "mean"]), random(Dense(32, 32, use_residual=True))],
         dict(normalize_embeddings=True, truncate_dim=6))
    case("normalize-first", [Pooling(16, "lasttoken"), Normalize(), random(Dense(16, 8)), Dropout(0.5),
                             random(LayerNorm(8))])
    case("tokens", [random(Dense(16, 8, module_input_name="token_embeddings")), Pooling(8, ["mean", "max"])])
    case("prompts", [Pooling(16, MODES, include_prompt=False), Normalize()], dict(prompt_name="query"),
         prompts=dict(query="the cat of ", passage="a fire "), default_prompt_name="passage")
    case("truncated", [Pooling(16, "mean")], dict(normalize_embeddings=True), truncate_dim=7)
    folder = HERE / "activations"
    shutil.rmtree(folder, ignore_errors=True)
    activations = {}
    for activation in ACTIVATIONS:
        case("activations", [Pooling(16, "mean"), random(Dense(16, 16, activation_function=activation()))])
        name = json.loads((folder / "2_Dense/config.json").read_text())["activation_function"]
        activations[name] = json.loads((folder / "expected.json").read_text())["embeddings"][:2]
    (folder / "expected.json").write_text(json.dumps(activations) + "\n")


if __name__ == "__main__":
    main()
