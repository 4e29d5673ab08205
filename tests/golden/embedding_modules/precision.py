#!/usr/bin/env python3
"""Makes precision.json: what quantize_embeddings() of sentence-transformers makes of vectors.

    venv/bin/python tests/golden/embedding_modules/precision.py
"""
import json
import pathlib

import numpy
from sentence_transformers.util.quantization import quantize_embeddings

vectors = numpy.random.default_rng(3).normal(size=(5, 11)).astype(numpy.float32)
vectors[:, 4] = 0.25  # a dimension without a range
ranges = numpy.stack([vectors[:3].min(axis=0), vectors[:3].max(axis=0)])
expected = {precision: quantize_embeddings(vectors, precision=precision).tolist()
            for precision in ("int8", "uint8", "binary", "ubinary")}
with_ranges = {precision: quantize_embeddings(vectors, precision=precision, ranges=ranges).tolist()
               for precision in ("int8", "uint8")}
pathlib.Path(__file__).with_name("precision.json").write_text(json.dumps(dict(
    vectors=vectors.tolist(), ranges=ranges.tolist(), expected=expected, with_ranges=with_ranges)) + "\n")
