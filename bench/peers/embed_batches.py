"""What the sides of embedding that get token ids have in common: batches of texts of similar length, padded; states
averaged and normalised; how they are timed."""
import json
import resource
import time

import numpy
from tokenizers import Tokenizer

BATCH, LONGEST = 64, 256


def tokenizer_of(path):
    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer


def batches(tokenizer, lines):
    """The numbers of the texts of each batch, their ids and mask [B, L], the shortest first."""
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
        yield members, ids, mask


def vectors_of(states, mask):
    weights = mask[:, :, None].astype(numpy.float32)
    means = (states * weights).sum(1) / weights.sum(1)
    return means / numpy.linalg.norm(means, axis=1, keepdims=True)


def print_speed(embed, tokenizer_path, sentences, version):
    """Times embed(tokenizer, lines) of a file's lines after one batch, and prints what bench/compare reads."""
    with open(sentences) as file:
        lines = file.read().splitlines()
    tokenizer = tokenizer_of(tokenizer_path)
    embed(tokenizer, lines[:BATCH])
    begin = time.perf_counter()
    embed(tokenizer, lines)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"per_second": len(lines) / seconds, "peak_memory": peak, "version": version}))
