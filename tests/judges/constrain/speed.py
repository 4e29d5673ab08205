#!/usr/bin/env python3
"""Times masks of heed and of llguidance for a JSON grammar, on one thread, one after the other.

    speed.py CONSTRAIN_JUDGE VOCABULARY MASKBENCH_DATA [COUNT]

VOCABULARY is a file of tiktoken, such as cl100k, which the PyPI package litellm holds.
MASKBENCH_DATA is the folder maskbench/data of guidance-ai/jsonschemabench; COUNT of its valid
instances (300 unless given) are the texts, half of them indented. Prints microseconds.
"""
import glob
import json
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from vocabulary import Vocabulary  # noqa: E402

GRAMMAR = r'''
start: value
value: object | array | STRING | NUMBER | "true" | "false" | "null"
object: "{" [pair ("," pair)*] "}"
pair: STRING ":" value
array: "[" [value ("," value)*] "]"
STRING: /"([^"\\\x00-\x1f]|\\["\\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
%ignore /[ \t\n\r]+/
'''


def instances(folder, count):
    files = sorted(glob.glob(os.path.join(folder, "*.json")))
    random.Random(1).shuffle(files)
    texts = []
    for name in files:
        for test in json.load(open(name)).get("tests", []):
            if test.get("valid"):
                indent = None if len(texts) % 2 else 2
                texts.append(json.dumps(test["data"], indent=indent, ensure_ascii=False))
        if len(texts) >= count:
            return texts[:count]
    return texts


def heed(judge, vocabulary_file, tokens):
    request = json.dumps({"kind": "lark", "source": GRAMMAR, "tokens": tokens})
    answer = json.loads(subprocess.run([judge, vocabulary_file], input=request, text=True,
                                       capture_output=True, check=True).stdout)
    accepted = sum(each["accepted"] for each in answer["tokens"])
    times = [time / 1e3 for each in answer["tokens"] for time in each["mask_ns"]]
    return accepted, answer["compile_us"], times


def llguidance_times(vocabulary, tokens):
    import llguidance
    import llguidance.numpy

    tokenizer = vocabulary.for_llguidance()
    begin = time.perf_counter()
    matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(GRAMMAR))
    compile_us = (time.perf_counter() - begin) * 1e6
    mask = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)
    accepted, times = 0, []
    for ids in tokens:
        matcher.reset()
        for token in ids:
            begin = time.perf_counter_ns()
            llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0)
            times.append((time.perf_counter_ns() - begin) / 1e3)
            if not matcher.consume_token(token):
                break
        accepted += matcher.is_accepting()
    return accepted, compile_us, times


def main():
    vocabulary = Vocabulary(sys.argv[2])
    texts = instances(sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 300)
    tokens = [vocabulary.encode(text) for text in texts]
    print("%d texts, %d tokens" % (len(texts), sum(map(len, tokens))))
    for name, (accepted, compile_us, times) in [
            ("heed", heed(sys.argv[1], sys.argv[2], tokens)),
            ("llguidance", llguidance_times(vocabulary, tokens))]:
        times.sort()
        print("%-10s accepted %d; compile %.0f; masks: mean %.2f, p50 %.2f, p99 %.1f, worst %.0f" % (
            name, accepted, compile_us, sum(times) / len(times), times[len(times) // 2],
            times[len(times) * 99 // 100], times[-1]))


if __name__ == "__main__":
    main()
