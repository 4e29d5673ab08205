#!/usr/bin/env python3
"""Makes stanford.json: a checkpoint of Stanford's ColBERT (github.com/stanford-futuredata/ColBERT) for the encoder of
../encoders/embed-bert, as its settings and the projection, and what the formulas of its code make of TEXTS: the
vectors of queries and documents and their scores.

    python3 -m venv venv
    venv/bin/pip install torch transformers
    venv/bin/python tests/golden/multi_vector/stanford.py
"""
import json
import pathlib
import string

import torch
import transformers as hf

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
BASE = HERE.parent / "encoders/embed-bert"
TEXTS = json.loads((BASE / "expected.json").read_text())["texts"]
tokenizer = hf.AutoTokenizer.from_pretrained(BASE)
encoder = hf.AutoModel.from_pretrained(BASE, attn_implementation="eager").eval()
PROJECTION = (torch.randn(8, 16, generator=torch.Generator().manual_seed(5)) * 0.4).round(decimals=6)
MARKS = [token for token in tokenizer.get_vocab() if token.startswith("##")][:2]
SETTINGS = {"query_token_id": MARKS[0], "doc_token_id": MARKS[1], "query_maxlen": 14, "doc_maxlen": 16, "dim": 8,
            "mask_punctuation": True, "similarity": "cosine", "interaction": "colbert"}
SKIPPED = {tokenizer.encode(symbol, add_special_tokens=False)[0] for symbol in string.punctuation}


def tokens(text, mark, most):
    """Room for the mark is made by ". " before the text."""
    ids = tokenizer(". " + text, truncation=True, max_length=most)["input_ids"]
    ids[1] = tokenizer.convert_tokens_to_ids(mark)
    return ids


def states(ids, attended):
    mask = torch.tensor([[1] * attended + [0] * (len(ids) - attended)])
    with torch.no_grad():
        return encoder(torch.tensor([ids]), attention_mask=mask).last_hidden_state[0] @ PROJECTION.T


def query(text, attend):
    ids = tokens(text, MARKS[0], SETTINGS["query_maxlen"])
    own = len(ids)
    ids += [tokenizer.mask_token_id] * (SETTINGS["query_maxlen"] - own)
    return torch.nn.functional.normalize(states(ids, len(ids) if attend else own), dim=1)


def document(text):
    ids = tokens(text, MARKS[1], SETTINGS["doc_maxlen"])
    kept = [i for i, token in enumerate(ids) if token not in SKIPPED]
    return torch.nn.functional.normalize(states(ids, len(ids))[kept], dim=1)


def numbers(vectors):
    return [[round(x, 7) for x in row] for row in vectors.tolist()]


cases = []
for attend in (False, True):
    queries, documents = [query(text, attend) for text in TEXTS], [document(text) for text in TEXTS]
    scores = [[round(float((q @ d.T).max(1).values.sum()), 6) for d in documents] for q in queries]
    cases.append({"settings": SETTINGS | {"attend_to_mask_tokens": attend}, "query": [numbers(q) for q in queries],
                  "document": [numbers(d) for d in documents], "scores": scores})
(HERE / "stanford.json").write_text(
    json.dumps({"projection": [round(x, 6) for x in PROJECTION.flatten().tolist()], "cases": cases}) + "\n")
