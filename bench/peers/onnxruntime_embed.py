"""onnxruntime's side of embedding: texts sorted by length, padded, averaged, normalised.

    onnxruntime_embed.py MODEL.onnx TOKENIZER.json SENTENCES.txt
"""
import os
import sys

import onnxruntime
from embed_batches import batches, print_speed, vectors_of


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
    model, tokenizer, sentences = sys.argv[1:]
    session = session_of(model)
    print_speed(lambda *texts: embed(session, *texts), tokenizer, sentences, f"onnxruntime {onnxruntime.__version__}")


main()
