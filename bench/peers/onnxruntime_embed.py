"""onnxruntime's side of embedding: texts sorted by length, padded, averaged, normalised.

    onnxruntime_embed.py MODEL.onnx TOKENIZER.json SENTENCES.txt
"""
import json
import os
import resource
import sys
import time

import numpy
import onnxruntime
from tokenizers import Tokenizer

BATCH, LONGEST = 64, 256


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def embed(session, tokenizer, lines):
    result = [None] * len(lines)
    encoded = tokenizer.encode_batch(lines)
    order = sorted(range(len(lines)), key=lambda i: len(encoded[i].ids))
    for begin in range(0, len(order), BATCH):
        members = order[begin:begin + BATCH]
        width = max(len(encoded[i].ids) for i in members)
        ids = numpy.zeros((len(members), width), numpy.int64)
        mask = numpy.zeros_like(ids)
        for row, i in enumerate(members):
            ids[row, :len(encoded[i].ids)] = encoded[i].ids
            mask[row, :len(encoded[i].ids)] = 1
        states = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        weights = mask[:, :, None].astype(numpy.float32)
        means = (states * weights).sum(1) / weights.sum(1)
        means /= numpy.linalg.norm(means, axis=1, keepdims=True)
        for row, i in enumerate(members):
            result[i] = means[row]
    return result


def main():
    model, tokenizer_path, sentences = sys.argv[1:]
    with open(sentences) as file:
        lines = file.read().splitlines()
    session = session_of(model)
    tokenizer = Tokenizer.from_file(tokenizer_path)
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    embed(session, tokenizer, lines[:BATCH])
    begin = time.perf_counter()
    embed(session, tokenizer, lines)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"per_second": len(lines) / seconds, "peak_memory": peak,
                      "version": f"onnxruntime {onnxruntime.__version__}"}))


main()
