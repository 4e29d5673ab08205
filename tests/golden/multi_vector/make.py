#!/usr/bin/env python3
"""Makes the folders beside this file: modules of late interaction for ../encoders/embed-bert.

Each has modules.json, the folders of the modules and expected.json: the "query", "document" and "plain" vectors that
MultiVectorEncoder gives of TEXTS, and the "scores" of queries and documents.

    python3 -m venv venv
    venv/bin/pip install torch transformers sentence-transformers==6.2.0
    venv/bin/python tests/golden/multi_vector/make.py
"""
import json
import pathlib
import shutil
import tempfile

import torch
from sentence_transformers import MultiVectorEncoder
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from torch import nn

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
BASE = HERE.parent / "encoders/embed-bert"
TEXTS = json.loads((BASE / "expected.json").read_text())["texts"]
KEPT = ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json")


def dense(out=8):
    module = Dense(16, out, bias=False, activation_function=nn.Identity(), module_input_name="token_embeddings")
    generator = torch.Generator().manual_seed(9)
    module.linear.weight.data = torch.randn(module.linear.weight.shape, generator=generator) * 0.4
    return module


def rounded(vectors):
    return [[[round(x, 7) for x in row] for row in text.tolist()] for text in vectors]


def write(folder, encoder):
    one = dict(batch_size=1)
    query, document = encoder.encode_query(TEXTS, **one), encoder.encode_document(TEXTS, **one)
    (folder / "expected.json").write_text(json.dumps(dict(
        query=rounded(query), document=rounded(document), plain=rounded(encoder.encode(TEXTS, **one)),
        scores=[[round(x, 6) for x in row] for row in encoder.similarity(query, document).tolist()])) + "\n")


def bare(folder):
    for file in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(BASE / file, folder)


def keep(saved, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for entry in pathlib.Path(saved).iterdir():
        if entry.is_dir():
            shutil.copytree(entry, folder / entry.name)
        elif entry.name in KEPT:
            shutil.copy(entry, folder)


def case(name, mask, prompts, **settings):
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as saved:
        bare(scratch)
        transformer = Transformer(scratch, model_kwargs=dict(attn_implementation="eager"), **settings)
        encoder = MultiVectorEncoder(
            modules=[transformer, dense(), mask, Normalize(module_input_name="token_embeddings")], device="cpu",
            prompts=prompts)
        encoder.save(saved, create_model_card=False)
        keep(saved, HERE / name)
    write(HERE / name, encoder)


def pylate():
    """As PyLate saves it: the prefixes are tokens, and neither the mask nor the normalisation is a module."""
    folder = HERE / "pylate"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    vocabulary = json.loads((BASE / "tokenizer.json").read_text())["model"]["vocab"]
    query, document = [token for token in vocabulary if token.startswith("##")][:2]
    (folder / "modules.json").write_text(json.dumps([
        dict(idx=0, name="0", path="", type="sentence_transformers.models.Transformer"),
        dict(idx=1, name="1", path="1_Dense", type="pylate.models.Dense.Dense")], indent=1) + "\n")
    (folder / "config_sentence_transformers.json").write_text(json.dumps(dict(
        __version__={}, prompts={}, default_prompt_name=None, similarity_fn_name="MaxSim", model_type="ColBERT",
        query_prefix=query + " ", document_prefix=document + " ", query_length=14, document_length=12,
        attend_to_expansion_tokens=False, skiplist_words=None), indent=1) + "\n")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 48, "do_lower_case": false}\n')
    with tempfile.TemporaryDirectory() as scratch:
        (folder / "1_Dense").mkdir()
        module = dense()
        module.save(str(folder / "1_Dense"))
        settings = json.loads((folder / "1_Dense/config.json").read_text())
        del settings["module_input_name"], settings["module_output_name"]
        (folder / "1_Dense/config.json").write_text(json.dumps(settings, indent=1) + "\n")
        shutil.copytree(folder, scratch, dirs_exist_ok=True)
        bare(scratch)
        encoder = MultiVectorEncoder(scratch, device="cpu", model_kwargs=dict(attn_implementation="eager"))
        write(folder, encoder)


def main():
    case("colbert", MultiVectorMask([".", ",", "the"]), dict(query="the ", document="a "), document_length=10,
         query_expansion=dict(strategy="fixed", length=12))
    case("attended", MultiVectorMask(["."], skiplist_tasks=["query", "document"]), dict(query="cat "), query_length=16,
         query_expansion=dict(strategy="min", length=11, attend=True, token="[SEP]"))
    pylate()


if __name__ == "__main__":
    main()
