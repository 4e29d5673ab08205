#!/usr/bin/env python3
"""Compares random regular expressions with Python's re, and random grammars with the package lark.

    random_programs.py CONSTRAIN_JUDGE re|lark [COUNT [SEED]]

Each program is asked about all texts of at most six letters a and b (lark: five), as a whole and,
for re, as a search. Prints the differences and ends with 1 if there is one. What heed refuses is
counted; it must name one of REFUSALS. So are programs for which the other needs more than SECONDS:
re backtracks.
"""
import itertools
import json
import random
import re
import signal
import subprocess
import sys

# What may be refused: it is documented as not supported, or the program matches nothing.
REFUSALS = ("inside a repetition", "no text satisfies")
SECONDS = 5


def texts(longest):
    return ["".join(letters) for size in range(longest + 1)
            for letters in itertools.product("ab", repeat=size)]


def random_regex(rng, depth):
    kind = rng.randrange(3 if depth == 0 else 14)
    if kind < 3:
        return rng.choice(["a", "b", "[ab]", "[^a]", ".", r"\w", "ab", "[^\\W\\d]", "(?:)"])
    if kind == 3:
        return rng.choice(["^", "$"])
    if kind == 4:
        return "(?%s%s)" % (rng.choice("=!"), random_regex(rng, depth - 1))
    if kind < 8:
        return "(%s|%s)" % (random_regex(rng, depth - 1), random_regex(rng, depth - 1))
    if kind < 11:
        return random_regex(rng, depth - 1) + random_regex(rng, depth - 1)
    low = rng.randrange(3)
    counts = rng.choice(["*", "+", "?", "*?", "{%d}" % low, "{%d,}" % low,
                         "{%d,%d}" % (low, low + rng.randrange(3))])
    return "(?:%s)%s" % (random_regex(rng, depth - 1), counts)


def random_grammar(rng):
    names = ["start", "x", "y", "z"][:1 + rng.randrange(4)]
    lines = []
    for name in names:
        alternatives = []
        for _ in range(1 + rng.randrange(3)):
            parts = []
            for _ in range(rng.randrange(4)):
                part = rng.choice(names + ['"a"', '"b"', '"ab"', "/a+b?/", "/[ab]/", "LETTERS"])
                parts.append(part + rng.choice(["", "", "", "?", "*", "+", "~1..2"]))
            alternatives.append(" ".join(parts))
        lines.append("%s: %s" % (name, " | ".join(alternatives)))
    lines.append("LETTERS: /b(a|bb)?/")
    if rng.randrange(4) == 0:
        lines.append('%ignore "a"')
    return "\n".join(lines) + "\n"


class Judge:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, kind, source, all_texts):
        request = {"kind": kind, "source": source, "texts": all_texts}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            return answer["error"]
        return [each["accepted"] for each in answer["texts"]]


def programs_of_re(rng):
    """Kind, source, and what Python says of all texts."""
    all_texts = texts(6)
    source = random_regex(rng, 4)
    compiled = re.compile(source)
    yield "regex_python", source, all_texts, [bool(compiled.fullmatch(t)) for t in all_texts]
    yield "search_python", source, all_texts, [bool(compiled.search(t)) for t in all_texts]


def programs_of_lark(rng):
    import lark

    all_texts = texts(5)
    source = random_grammar(rng)
    try:
        parser = lark.Lark(source, parser="earley", lexer="dynamic_complete")
    except (lark.exceptions.LarkError, AssertionError):
        return
    expected = []
    for text in all_texts:
        try:
            parser.parse(text)
            expected.append(True)
        except lark.exceptions.UnexpectedInput:
            expected.append(False)
        except RuntimeError:  # "Please report this bug."
            return
    yield "lark", source, all_texts, expected


def main():
    judge = Judge(sys.argv[1])
    programs = {"re": programs_of_re, "lark": programs_of_lark}[sys.argv[2]]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    compared = refused = different = left_out = 0

    def give_up(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    for number in range(seed, seed + count):
        signal.alarm(SECONDS)
        try:
            asked = list(programs(random.Random(number)))
        except TimeoutError:
            left_out += 1
            continue
        finally:
            signal.alarm(0)
        for kind, source, all_texts, expected in asked:
            answers = judge.ask(kind, source, all_texts)
            if isinstance(answers, str):
                refused += 1
                if not any(each in answers for each in REFUSALS) or (
                        "no text" in answers and any(expected)):
                    different += 1
                    print("refused: %s\n%s" % (answers, source))
                continue
            compared += 1
            wrong = [t for t, ours, theirs in zip(all_texts, answers, expected) if ours != theirs]
            if wrong:
                different += 1
                print("seed %d, %s differs at %s:\n%s" % (number, kind, wrong[:4], source))
    print("%d compared, %d refused, %d left out, %d different" % (
        compared, refused, left_out, different))
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
