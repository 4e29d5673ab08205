#!/usr/bin/env python3
"""Compares heed's JSON Schema with MaskBench (github.com/guidance-ai/jsonschemabench).

    maskbench.py build/release/tests/constrain_judge FOLDER [NAME]

FOLDER is maskbench/data of a copy of that repository; NAME restricts it to files with that in their
names. Prints what is wrong, and how many schemas are wholly right: compiled, every valid instance
accepted and every invalid one refused. Instances whose members come in another order than the
schema's, and are accepted in its order, are counted as such beside the wrongly refused.
"""
import argparse
import collections
import json
import pathlib
import re
import sys
import urllib.parse

from program import Judge, quantiles


class SchemaOrder:
    """Puts the members of instances into the order in which a schema first names them."""

    def __init__(self, schema):
        self.schema = schema

    def schemas(self, schemas):
        """`schemas` and those for the same value that they refer to, in the order of keywords."""
        found, waiting = [], list(schemas)
        while waiting and len(found) < 2000:
            schema = waiting.pop(0)
            if not isinstance(schema, dict) or any(schema is other for other in found):
                continue
            found.append(schema)
            inner = []
            for keyword, value in schema.items():
                if keyword == "$ref" and isinstance(value, str) and value.startswith("#"):
                    inner.append(self.target(value[1:]))
                elif keyword in ("allOf", "anyOf", "oneOf") and isinstance(value, list):
                    inner += value
                elif keyword in ("if", "then", "else"):
                    inner.append(value)
            waiting = inner + waiting
        return found

    def target(self, pointer):
        schema = self.schema
        for part in urllib.parse.unquote(pointer).split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, list):
                schema = schema[int(part)]
            else:
                schema = schema.get(part) if isinstance(schema, dict) else None
        return schema

    def apply(self, value, schemas):
        schemas = self.schemas(schemas)
        if isinstance(value, list):
            inner = []
            for schema in schemas:
                for keyword in ("items", "prefixItems", "additionalItems", "contains"):
                    items = schema.get(keyword)
                    inner += items if isinstance(items, list) else [items]
            return [self.apply(item, inner) for item in value]
        if not isinstance(value, dict):
            return value
        names = {}
        for schema in schemas:
            names.update(dict.fromkeys(schema.get("properties") or {}))
        for schema in schemas:
            required = schema.get("required")
            names.update(dict.fromkeys(required if isinstance(required, list) else []))
        order = [name for name in names if name in value]
        result = {}
        for name in order + [name for name in value if name not in names]:
            inner = []
            for schema in schemas:
                inner.append((schema.get("properties") or {}).get(name))
                inner += [inner_schema for pattern, inner_schema in
                          (schema.get("patternProperties") or {}).items()]
                inner.append(schema.get("additionalProperties"))
            result[name] = self.apply(value[name], inner)
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judge")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--refused", action="store_true", help="print each refused schema")
    arguments = parser.parse_args()
    judge = Judge(arguments.judge)
    counts, reasons, times = collections.Counter(), collections.Counter(), []
    for path in sorted(arguments.folder.glob("*.json")):
        if arguments.name not in path.name:
            continue
        case = json.loads(path.read_text())
        tests = case.get("tests", [])
        answer = judge.schema(json.dumps(case["schema"], ensure_ascii=False),
                              [json.dumps(test["data"], ensure_ascii=False) for test in tests])
        counts["schemas"] += 1
        if "crash" in answer:
            counts["crashes"] += 1
            print(path.name, "CRASH", answer["crash"])
            continue
        if "error" in answer:
            counts["schemas refused"] += 1
            reason = re.sub(r'"(?:[^"\\]|\\.)*"|[0-9]+', "_", answer["error"])
            reasons[reason] += 1
            if arguments.refused:
                print(path.name, answer["error"])
            continue
        right = True
        times.append((answer["compile_us"] / 1000, path.name))
        for test, result in zip(tests, answer["texts"]):
            counts["valid" if test["valid"] else "invalid"] += 1
            if test["valid"] == result["accepted"]:
                continue
            right = False
            if test["valid"]:
                ordered = SchemaOrder(case["schema"]).apply(test["data"], [case["schema"]])
                again = judge.schema(json.dumps(case["schema"], ensure_ascii=False),
                                     [json.dumps(ordered, ensure_ascii=False)])
                if again["texts"][0]["accepted"]:
                    counts["refused for the order of members"] += 1
                    continue
            what = "wrongly refused" if test["valid"] else "WRONGLY ACCEPTED"
            counts[what] += 1
            text = json.dumps(test["data"], ensure_ascii=False).encode()
            at = result["bytes"]
            detail = text[max(0, at - 60):at].decode(errors="replace") if test["valid"] else \
                test.get("python_error", "")[:150].replace("\n", " ")
            print(path.name, what, repr(detail))
        counts["wholly right"] += right
    for reason, count in reasons.most_common():
        print(f"{count:6} {reason[:200]}")
    for what, count in sorted(counts.items()):
        print(f"{what}: {count}")
    print("compile ms, p50 / p99 / worst:", *(f"{t:.2f}" for t in quantiles([t for t, _ in times])))
    print("slowest:", *(f"{name} {t:.0f}" for t, name in sorted(times)[-5:]))
    return 1 if counts["WRONGLY ACCEPTED"] + counts["crashes"] else 0


if __name__ == "__main__":
    sys.exit(main())
