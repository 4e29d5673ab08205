"""onnxruntime's side of embedding: texts sorted by length, padded, averaged, normalised.

    onnxruntime_embed.py MODEL.onnx TOKENIZER.json SENTENCES.txt
"""
import json
import os
import resource
import sys
import time

import onnxruntime
from embed_batches import BATCH, batches, tokenizer_of, vectors_of


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def embed(session, tokenizer, lines):
    result = [None] * len(lines)
    for members, ids, mask in batches(tokenizer, lines):
        states = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        for i, vector in zip(members, vectors_of(states, mask)):
            result[i] = vector
    return result


def main():
    model, tokenizer_path, sentences = sys.argv[1:]
    with open(sentences) as file:
        lines = file.read().splitlines()
    session = session_of(model)
    tokenizer = tokenizer_of(tokenizer_path)
    embed(session, tokenizer, lines[:BATCH])
    begin = time.perf_counter()
    embed(session, tokenizer, lines)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"per_second": len(lines) / seconds, "peak_memory": peak,
                      "version": f"onnxruntime {onnxruntime.__version__}"}))


main()
