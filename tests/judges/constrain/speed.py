#!/usr/bin/env python3
"""Times heed, llguidance and xgrammar, on one thread each, one after the other for each grammar.

    speed.py CONSTRAIN_JUDGE VOCABULARY MASKBENCH_DATA [--schemas COUNT] [--seed N]

VOCABULARY is a file of tiktoken, such as cl100k, which the PyPI package litellm holds.
MASKBENCH_DATA is the folder maskbench/data of guidance-ai/jsonschemabench.

With --schemas, COUNT of its schemas (all: 0) are compiled, and the masks of their valid instances
computed before each token, at most TOKENS of an instance. Otherwise a grammar of JSON is compiled
once, and 300 instances are the texts (xgrammar has no Lark). Half of the instances are indented. An
instance ends where a program refuses a token. A program that needs longer than SECONDS for a schema
is stopped.
"""
import argparse
import json
import os
import pathlib
import random
import sys

from program import Judge, quantiles
from vocabulary import Vocabulary

TOKENS, SECONDS = 2000, 20
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


class Times:
    """What one program took."""

    def __init__(self, command):
        # llguidance computes masks on one thread anyway.
        os.environ["RAYON_NUM_THREADS"] = "1"
        self.judge = Judge(command, SECONDS)
        self.compile_ms, self.mask_us = [], []
        self.refused = self.stopped = self.accepted = self.instances = 0
        self.slowest = (0, "")  # mask, and the name of its schema

    def ask(self, name, kind, source, tokens):
        answer = self.judge.ask(kind=kind, source=source, tokens=tokens)
        if "compile_us" not in answer:
            self.stopped += "crash" in answer
            self.refused += "error" in answer
            return
        self.compile_ms.append(answer["compile_us"] / 1e3)
        for each in answer["tokens"]:
            self.instances += 1
            self.accepted += each["accepted"]
            self.mask_us += [time / 1e3 for time in each["mask_ns"]]
            self.slowest = max(self.slowest, (max(each["mask_ns"], default=0) / 1e3, name))

    def line(self):
        mean = sum(self.mask_us) / max(len(self.mask_us), 1)
        compiled, masks = quantiles(self.compile_ms), quantiles(self.mask_us)
        return ("compile ms p50 %.2f, p99 %.1f, worst %.0f; masks us mean %.2f, p99 %.1f, worst %.0f; "
                "compiled %d, refused %d, stopped %d; accepted %d of %d instances, %d masks; %s" % (
                    *compiled, mean, *masks[1:], len(self.compile_ms), self.refused, self.stopped,
                    self.accepted, self.instances, len(self.mask_us), self.slowest[1]))


def cases(folder, seed):
    """Name, schema as text, and valid instances as texts, every other one indented."""
    paths = sorted(folder.glob("*.json"))
    random.Random(seed).shuffle(paths)
    number = 0
    for path in paths:
        case, texts = json.loads(path.read_text()), []
        for test in case.get("tests", []):
            if test.get("valid"):
                texts.append(json.dumps(test["data"], indent=None if number % 2 else 2,
                                        ensure_ascii=False))
                number += 1
        yield path.name, json.dumps(case["schema"], ensure_ascii=False), texts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judge")
    parser.add_argument("vocabulary")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--schemas", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["heed", "llguidance", "xgrammar"])
    parser.add_argument("--xgrammar-every", type=int, default=10,
                        help="the schemas that xgrammar is asked about, since it takes seconds each")
    arguments = parser.parse_args()
    vocabulary = Vocabulary(arguments.vocabulary)
    peers = str(pathlib.Path(__file__).with_name("peers.py"))
    programs = {"heed": Times([arguments.judge, arguments.vocabulary])}
    for name in ["llguidance", "xgrammar"]:
        programs[name] = Times([sys.executable, peers, name, arguments.vocabulary])
    if arguments.only:
        programs = {arguments.only: programs[arguments.only]}
    # The first answer waits until a program has read its vocabulary.
    for program in programs.values():
        program.judge.ask(kind="json_schema", source="true", tokens=[])
    texts_of_json = []
    for count, (name, schema, texts) in enumerate(cases(arguments.folder, arguments.seed), 1):
        if arguments.schemas is None:
            texts_of_json += texts
            if len(texts_of_json) >= 300:
                break
            continue
        tokens = [vocabulary.encode(text)[:TOKENS] for text in texts]
        for program_name, program in programs.items():
            if program_name != "xgrammar" or count % arguments.xgrammar_every == 0:
                program.ask(name, "json_schema", schema, tokens)
        if count == arguments.schemas:
            break
    if arguments.schemas is None:
        tokens = [vocabulary.encode(text) for text in texts_of_json[:300]]
        for program in programs.values():
            program.ask("JSON", "lark", GRAMMAR, tokens)
    for name, program in programs.items():
        print("%-10s %s" % (name, program.line()))


if __name__ == "__main__":
    main()
