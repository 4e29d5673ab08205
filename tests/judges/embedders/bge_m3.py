#!/usr/bin/env python3
"""The three heads of BGE-M3 against FlagEmbedding's own code, on a small checkpoint of random weights.

    VENV/bin/python tests/judges/embedders/bge_m3.py

VENV has heed, FlagEmbedding and sentence-transformers. The tokenizer is that of tests/golden/encoders/embed-xlm-roberta.
Prints the largest differences and fails if one exceeds 1e-5.
"""
import json
import pathlib
import shutil
import sys
import tempfile

import heed
import numpy
import torch
import transformers
from FlagEmbedding import BGEM3FlagModel

LIMIT = 1e-5
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden/encoders/embed-xlm-roberta"
TEXTS = ["the old sea", "a ship, a ship and the sea", "the", "Bread is hot. The cat sat near the fire and looked at the stove.",
         "words that no tokenizer knows: Schiff 船 🙂", "sea " * 40]


def make(folder, colbert_dim):
    """XLM-RoBERTa with the files that BAAI/bge-m3 has beside it."""
    shutil.copytree(GOLDEN, folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings.pop("extra_special_tokens", None)  # FlagEmbedding needs transformers 4, which reads it otherwise
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    config = transformers.XLMRobertaConfig.from_pretrained(GOLDEN)
    config.update({"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 128,
                   "initializer_range": 0.3})
    torch.manual_seed(3)
    transformers.XLMRobertaModel(config).save_pretrained(folder)
    lexical = torch.nn.Linear(64, 1)
    torch.nn.init.normal_(lexical.weight, std=0.05)
    torch.nn.init.constant_(lexical.bias, 1)  # weights are above zero
    torch.save(lexical.state_dict(), folder / "sparse_linear.pt")
    torch.save(torch.nn.Linear(64, colbert_dim).state_dict(), folder / "colbert_linear.pt")
    modules = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling"), ("2", "2_Normalize", "Normalize")]
    (folder / "modules.json").write_text(json.dumps([
        {"idx": i, "name": name, "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (name, path, kind) in enumerate(modules)]))
    for name in ("1_Pooling", "2_Normalize"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": 64, "pooling_mode_cls_token": True,
                                                              "pooling_mode_mean_tokens": False}))


def compare(folder, colbert_dim):
    own = heed.load(str(folder))
    flag = BGEM3FlagModel(str(folder), use_fp16=False, devices="cpu", colbert_dim=colbert_dim)
    length = min(512, own.context_length)
    theirs = flag.encode(TEXTS, max_length=length, return_dense=True, return_sparse=True, return_colbert_vecs=True)
    yield "dense", numpy.abs(own.embed(TEXTS) - theirs["dense_vecs"]).max()
    sparse = 0
    for found, weights in zip(own.embed_sparse(TEXTS), theirs["lexical_weights"], strict=True):
        mine = dict(zip(map(str, found.indices), found.values))
        sparse = max([sparse] + [abs(mine.get(name, 0) - weights.get(name, 0)) for name in mine.keys() | weights.keys()])
    yield "lexical weights", sparse
    vectors = own.embed_multi_vector(TEXTS)
    assert [len(one) for one in vectors] == [len(one) for one in theirs["colbert_vecs"]]
    yield "vectors of tokens", max(numpy.abs(a - b).max() for a, b in zip(vectors, theirs["colbert_vecs"]))
    scores = [abs(own.max_sim(vectors[0], one) / len(vectors[0]) - float(flag.colbert_score(theirs["colbert_vecs"][0], other)))
              for one, other in zip(vectors, theirs["colbert_vecs"])]
    yield "MaxSim, divided by the query's tokens as there", max(scores)


def main():
    largest = 0
    with tempfile.TemporaryDirectory() as scratch:
        for colbert_dim in (64, 16):
            folder = pathlib.Path(scratch) / str(colbert_dim)
            make(folder, colbert_dim)
            for what, difference in compare(folder, -1 if colbert_dim == 64 else colbert_dim):
                print(f"{what}, colbert_linear of {colbert_dim}: {difference:.1e}", flush=True)
                largest = max(largest, difference)
    sys.exit(1 if largest > LIMIT else 0)


if __name__ == "__main__":
    main()
