#!/usr/bin/env python3
"""Answers as constrain_judge does, by another implementation, for speed.py.

    peers.py llguidance|xgrammar VOCABULARY

Reads a request a line, {"kind": "json_schema" or "lark", "source": ..., "tokens": [[...], ...]}, and
writes {"compile_us": .., "tokens": [{"tokens": .., "accepted": .., "mask_ns": [..]}]} or {"error": ..}.
Times are those of the processor: the program computes on one thread. It keeps no grammar for the next
request.
"""
import json
import sys
import time

from vocabulary import Vocabulary


class Llguidance:
    def __init__(self, vocabulary):
        import llguidance
        import llguidance.numpy

        self.module, self.numpy = llguidance, llguidance.numpy
        self.tokenizer = vocabulary.for_llguidance()
        self.bits = self.numpy.allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def compile(self, kind, source):
        make = {"json_schema": self.module.LLMatcher.grammar_from_json_schema,
                "lark": self.module.LLMatcher.grammar_from_lark}[kind]
        matcher = self.module.LLMatcher(self.tokenizer, make(source), log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def begin(self, matcher):
        matcher.reset()
        return matcher

    def mask(self, matcher):
        self.numpy.fill_next_token_bitmask(matcher, self.bits, 0)

    def accept(self, matcher, token):
        return matcher.consume_token(token)

    def is_accepting(self, matcher):
        return matcher.is_accepting()


class Xgrammar:
    def __init__(self, vocabulary):
        import xgrammar

        self.module = xgrammar
        tokenizer = xgrammar.TokenizerInfo(vocabulary.tokens + [b"<|end|>"],
                                           stop_token_ids=[vocabulary.end])
        self.end = vocabulary.end
        self.compiler = xgrammar.GrammarCompiler(tokenizer, max_threads=1, cache_enabled=False)
        self.bits = xgrammar.allocate_token_bitmask(1, tokenizer.vocab_size)

    def compile(self, kind, source):
        if kind != "json_schema":
            raise ValueError(f"no {kind}")
        return self.compiler.compile_json_schema(source, any_whitespace=True, strict_mode=False)

    def begin(self, compiled):
        return self.module.GrammarMatcher(compiled)

    def mask(self, matcher):
        matcher.fill_next_token_bitmask(self.bits)

    def accept(self, matcher, token):
        return matcher.accept_token(token)

    def is_accepting(self, matcher):
        return matcher.accept_token(self.end)


def answer(peer, request):
    begin = time.thread_time_ns()
    compiled = peer.compile(request["kind"], request["source"])
    peer.begin(compiled)
    result = {"compile_us": (time.thread_time_ns() - begin) / 1e3, "tokens": []}
    for ids in request["tokens"]:
        matcher, times, allowed = peer.begin(compiled), [], 0
        for token in ids:
            begin = time.thread_time_ns()
            peer.mask(matcher)
            times.append(time.thread_time_ns() - begin)
            if not peer.accept(matcher, token):
                break
            allowed += 1
        accepted = allowed == len(ids) and bool(peer.is_accepting(matcher))
        result["tokens"].append({"tokens": allowed, "accepted": accepted, "mask_ns": times})
    return result


def main():
    peer = {"llguidance": Llguidance, "xgrammar": Xgrammar}[sys.argv[1]](Vocabulary(sys.argv[2]))
    for line in sys.stdin:
        try:
            result = answer(peer, json.loads(line))
        except Exception as error:  # of any kind: it is the peer's answer
            result = {"error": str(error)[:300]}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
