#!/usr/bin/env python3
"""Asks heed what llama.cpp's own tests ask its grammars.

    llama_grammars.py CONSTRAIN_JUDGE LLAMA.CPP

LLAMA.CPP is a clone of github.com/ggml-org/llama.cpp. Of tests/test-grammar-integration.cpp, the GBNF
grammars and the JSON Schemas with their strings, which must match or must not; and each grammars/*.gbnf
must be compiled. Prints the differences, and ends with 1 if a grammar has one. Cases with tokens by their
id, such as <[10]>, are left out. Of schemas, only strings that are JSON are compared, of which llama.cpp
refuses some that they allow: numbers of more than 16 digits, members that they do not name.
"""
import base64
import json
import pathlib
import re
import sys

from program import Judge

# A call, a literal, a comment, an opening or a closing brace or parenthesis.
TOKEN = re.compile(r'//[^\n]*|(?P<call>\btest_\w+|\btoken)\(|(?P<literal>R"(?P<mark>\w*|"*)\((?P<raw>.*?)'
                   r'\)(?P=mark)"|"(?P<plain>(?:[^"\\\n]|\\.)*)")|(?P<mark_>[{}(),;+])', re.S)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


def unescape(text):
    """What a string literal of C++ means, as bytes in Latin-1."""
    def one(match):
        escape = match.group(1)
        if escape[0] in "uU":
            return chr(int(escape[1:], 16)).encode().decode("latin-1")
        if escape[0] == "x":
            return chr(int(escape[1:], 16))
        return ESCAPES.get(escape, escape)
    text = text.encode().decode("latin-1")
    return re.sub(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", one, text, flags=re.S)


def calls(source):
    """Name and arguments of each call of a test: a string (as bytes), a list of these, or None."""
    tokens = [match for match in TOKEN.finditer(source) if not match.group().startswith("//")]
    at = 0
    while at < len(tokens):
        name = tokens[at].group("call")
        at += 1
        if name is None or name == "token":
            continue
        arguments, value, texts, depth = [], None, None, 0
        has_tokens = False
        while at < len(tokens):
            token = tokens[at]
            if token.group("call") is not None:
                if token.group("call") != "token":
                    break
                has_tokens, depth = True, depth + 1
            elif token.group("literal"):
                raw = token.group("raw")
                part = raw.encode() if raw is not None else unescape(
                    token.group("plain")).encode("latin-1")
                value = part if value is None else value + part
            elif token.group() == "(":
                depth += 1
            elif token.group() == "{":
                texts = []
            elif token.group() in "},)" and depth == 0:
                if texts is not None:
                    if value is not None:
                        texts.append(value)
                    if token.group() == "}":
                        arguments.append(texts)
                        texts = None
                elif value is not None:
                    arguments.append(value)
                value = None
                if token.group() == ")":
                    at += 1
                    break
            elif token.group() == ")":
                depth -= 1
            elif token.group() == ";":
                break
            at += 1
        if not has_tokens:
            yield name, arguments


def is_json(text):
    try:
        json.loads(text)
        return True
    except ValueError:
        return False


def texts_of(texts):
    return [{"base64": base64.b64encode(text).decode()} for text in texts]


def main():
    judge, root = Judge(sys.argv[1]), pathlib.Path(sys.argv[2])
    source = (root / "tests/test-grammar-integration.cpp").read_text()
    counts = dict.fromkeys(["grammars", "strings", "schemas", "schema strings"], 0)
    different = {"gbnf": 0, "json_schema": 0}

    def report(kind, *what):
        different[kind] += 1
        print(*what)

    for name, arguments in calls(source):
        kinds = [type(argument) for argument in arguments]
        if kinds != [bytes, bytes, list, list] or name not in ("test_grammar", "test_schema"):
            continue
        title, program, passing, failing = arguments
        is_schema = name == "test_schema"
        if is_schema:
            passing, failing = [[text for text in texts if is_json(text)]
                                for texts in (passing, failing)]
        kind = "json_schema" if is_schema else "gbnf"
        counts["schemas" if is_schema else "grammars"] += 1
        answer = judge.ask(kind=kind, source=program.decode(), texts=texts_of(passing + failing))
        if "texts" not in answer:
            report(kind, title.decode(), answer)
            continue
        for text, expected, result in zip(passing + failing, [True] * len(passing) +
                                          [False] * len(failing), answer["texts"]):
            counts["schema strings" if is_schema else "strings"] += 1
            if result["accepted"] != expected:
                report(kind, f"{name} {title.decode()}: {text!r} is accepted: {result['accepted']}")
    for path in sorted((root / "grammars").glob("*.gbnf")):
        counts["grammars"] += 1
        answer = judge.ask(kind="gbnf", source=path.read_text())
        if "compile_us" not in answer:
            report("gbnf", path.name, answer)
    print(counts, "different:", different)
    return different["gbnf"] > 0


if __name__ == "__main__":
    sys.exit(main())
