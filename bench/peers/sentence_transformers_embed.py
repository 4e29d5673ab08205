"""PyTorch's side of embedding: sentence-transformers, which sorts by length and pads.

    sentence_transformers_embed.py MODEL SENTENCES.txt f32|bf16|int8
"""
import importlib.metadata
import json
import os
import resource
import sys
import time

import torch
from sentence_transformers import SentenceTransformer


def main():
    path, sentences, arithmetic = sys.argv[1:]
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    with open(sentences) as file:
        lines = file.read().splitlines()
    model = SentenceTransformer(path, device="cpu")
    if arithmetic == "bf16":
        model.bfloat16()
    if arithmetic == "int8":
        torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, inplace=True)
    model.encode(lines[:64])
    begin = time.perf_counter()
    model.encode(lines, batch_size=64, show_progress_bar=False)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    version = importlib.metadata.version("sentence-transformers")
    print(json.dumps({"per_second": len(lines) / seconds, "peak_memory": peak,
                      "version": f"PyTorch {torch.__version__}, sentence-transformers {version}"}))


main()
