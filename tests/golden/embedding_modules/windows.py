#!/usr/bin/env python3
"""Makes windows.json: windows of texts of ../encoders/embed-bert as transformers' tokenizers cut them, their vectors by
sentence-transformers, and the means of these, weighted by the tokens of the text.

    python3 -m venv venv
    venv/bin/pip install torch transformers sentence-transformers==6.2.0
    venv/bin/python tests/golden/embedding_modules/windows.py
"""
import json
import pathlib

import torch
from sentence_transformers import SentenceTransformer

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
BASE = HERE.parent / "encoders/embed-bert"
WORDS = " ".join(json.loads((BASE / "expected.json").read_text())["texts"]).split()
TEXTS = [" ".join(WORDS[i] for i in range(start, start + count)) for start, count in ((0, 3), (2, 11), (5, 40))]


def windows_of(encoder, text, window, overlap):
    encoded = encoder.tokenizer(text, truncation=True, max_length=window, stride=overlap,
                                return_overflowing_tokens=True, return_offsets_mapping=True)
    windows = []
    for ids, offsets in zip(encoded["input_ids"], encoded["offset_mapping"]):
        own = [offset for offset in offsets if offset[1] > 0]
        with torch.no_grad():
            features = encoder.forward({"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids))})
        vector = features["sentence_embedding"][0]
        windows.append({"tokens": len(own), "start": own[0][0], "end": own[-1][1], "vector": vector})
    return windows


def pooled(windows):
    tokens = torch.tensor([float(window["tokens"]) for window in windows])
    mean = (torch.stack([window["vector"] for window in windows]) * tokens[:, None]).sum(0) / tokens.sum()
    return torch.nn.functional.normalize(mean, dim=0)


def numbers(vector):
    return [round(x, 7) for x in vector.tolist()]


encoder = SentenceTransformer(str(BASE), device="cpu")
cases = []
for window, overlap in ((12, 0), (12, 4), (9, 6), (48, 8)):
    for text in TEXTS:
        windows = windows_of(encoder, text, window, overlap)
        cases.append({"window": window, "overlap": overlap, "text": text, "embedding": numbers(pooled(windows)),
                      "windows": [{**one, "vector": numbers(one["vector"])} for one in windows]})
(HERE / "windows.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
