#!/usr/bin/env python3
"""Lists what published templates use of the language: each thing with the number of templates.

    used.py FOLDER    FOLDER as collect.py fills it

Filters and tests have the names of their arguments with them. A method is what is called behind a
dot, whatever the object.
"""

import argparse
import collections
import pathlib
import re

from jinja2 import nodes
from transformers.utils import chat_template_utils

CONVERSION = re.compile(r"%(?:\([^)]*\))?[-+ #0]*[*\d]*(?:\.[*\d]+)?[a-zA-Z]|\{[^{}\s]*\}")


def used_by(tree):
    """The pairs (kind, name) of a parsed template."""
    for node in tree.find_all(nodes.Node):
        kind = type(node).__name__
        if isinstance(node, (nodes.Filter, nodes.Test)):
            yield kind, node.name
            for keyword in node.kwargs:
                yield kind, f"{node.name}({keyword.key}=)"
            if node.args:
                yield kind, f"{node.name}, {len(node.args)} arguments"
            if node.name in ("map", "select", "reject", "selectattr", "rejectattr"):
                yield from ((kind, f"{node.name}({argument.value!r})") for argument in node.args
                            if isinstance(argument, nodes.Const))
        elif isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
            yield "Method", node.node.attr
            if node.node.attr == "format":
                text = node.node.node
                yield "Format", repr(text.value) if isinstance(text, nodes.Const) else "of a variable"
        elif isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
            yield "Function", node.node.name if node.node.name in FUNCTIONS else "a macro"
        elif isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name == "loop":
            yield "Loop", node.attr
        elif isinstance(node, nodes.Compare):
            yield from (("Operator", operand.op) for operand in node.ops)
        elif isinstance(node, (nodes.BinExpr, nodes.UnaryExpr)):
            yield "Operator", node.operator
            if isinstance(node, nodes.Mod) and isinstance(node.left, nodes.Const) and isinstance(node.left.value, str):
                yield "Format", f"{node.left.value!r} %"
        elif isinstance(node, nodes.Stmt) or isinstance(node, (nodes.Slice, nodes.Concat, nodes.CondExpr)):
            yield "Node", kind
        if isinstance(node, nodes.Filter) and node.name == "format":
            yield "Format", f"{node.node.value!r} | format" if isinstance(node.node, nodes.Const) else "| format"


FUNCTIONS = ["range", "dict", "namespace", "raise_exception", "strftime_now", "lipsum", "cycler", "joiner"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    environment = chat_template_utils._compile_jinja_template("").environment
    files = sorted(parser.parse_args().folder.rglob("*.jinja"))
    counts = collections.Counter()
    for path in files:
        counts.update(set(used_by(environment.parse(path.read_bytes().decode("utf-8")))))
    print(len(files), "templates")
    for kind in sorted({kind for kind, _ in counts}):
        print(f"\n{kind}")
        for (_, name), count in sorted((c for c in counts.items() if c[0][0] == kind), key=lambda c: (-c[1], c[0])):
            print(f"{count:6}  {name}")


if __name__ == "__main__":
    main()
