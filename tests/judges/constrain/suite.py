#!/usr/bin/env python3
"""Compares heed's JSON Schema with the JSON-Schema-Test-Suite (Debian: json-schema-test-suite).

    suite.py build/release/tests/constrain_judge FOLDER [DRAFT]

FOLDER has tests/ and remotes/. heed writes the members of an object in one order and a number in one
way, so an instance counts as accepted if one of its orders is, and 1.0 is written as 1. `heed
check-schema` has to say the same. Prints what is wrong, and how many cases are right or refused by name.
"""
import argparse
import collections
import json
import pathlib
import re
import sys

from program import Judge

DIALECTS = {"draft4": "http://json-schema.org/draft-04/schema#",
            "draft6": "http://json-schema.org/draft-06/schema#",
            "draft7": "http://json-schema.org/draft-07/schema#",
            "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
            "draft2020-12": "https://json-schema.org/draft/2020-12/schema"}


def written(value, whole):
    """`value` as JSON text; `whole`: 1.0 is written as 1."""
    if isinstance(value, dict):
        return "{%s}" % ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {written(member, whole)}"
                                  for name, member in value.items())
    if isinstance(value, list):
        return "[%s]" % ", ".join(written(item, whole) for item in value)
    if whole and isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def remote_documents(folder, draft):
    documents = {}
    for path in (folder / "remotes").rglob("*.json"):
        name = path.relative_to(folder / "remotes")
        if name.parts[0].startswith(("draft", "v1", "latest")) and name.parts[0] != draft:
            continue  # of another draft
        schema = json.loads(path.read_text())
        if isinstance(schema, dict) and "$schema" not in schema:
            schema = {"$schema": DIALECTS[draft], **schema}
        documents[f"http://localhost:1234/{name}"] = json.dumps(schema, ensure_ascii=False)
    return documents


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judge")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("draft", nargs="?", default="draft2020-12")
    parser.add_argument("--optional", action="store_true", help="also tests/DRAFT/optional")
    parser.add_argument("--refused", action="store_true", help="print each refused schema")
    arguments = parser.parse_args()
    judge = Judge(arguments.judge)
    remotes = remote_documents(arguments.folder, arguments.draft)
    counts, reasons = collections.Counter(), collections.Counter()
    root = arguments.folder / "tests" / arguments.draft
    paths = sorted(root.rglob("*.json") if arguments.optional else root.glob("*.json"))
    if not paths:
        parser.error(f"{root} has no tests")
    for path in paths:
        for case in json.loads(path.read_text()):
            schema = case["schema"]
            if isinstance(schema, dict) and "$schema" not in schema:
                schema = {"$schema": DIALECTS[arguments.draft], **schema}
            text = json.dumps(schema, ensure_ascii=False)
            texts = [written(test["data"], arguments.draft != "draft4") for test in case["tests"]]
            # Formats are assertions in the folder of that name alone, or from draft 4 to 7.
            formats = "format" in path.parts
            named = {uri: document for uri, document in remotes.items() if "localhost" in text}
            answer = judge.schema(text, texts, documents=named, formats=formats, any_order=True)
            name = f"{path.relative_to(root)}: {case['description']}"
            counts["cases"] += len(case["tests"])
            if "crash" in answer:
                counts["crashes"] += 1
                print(name, "CRASH", answer["crash"])
                continue
            if "error" in answer:
                empty = answer["error"].startswith("no value satisfies")
                all_invalid = not any(test["valid"] for test in case["tests"])
                kind = "right" if empty and all_invalid else "refused by name"
                counts[kind] += len(case["tests"])
                if kind != "right":
                    reasons[re.sub(r'"(?:[^"\\]|\\.)*"|[0-9]+', "_", answer["error"])] += len(
                        case["tests"])
                    if arguments.refused:
                        print(name, answer["error"])
                continue
            for test, result in zip(case["tests"], answer["texts"]):
                accepted = result["accepted"] or result["accepted_in_order"]
                if accepted != result["valid"]:
                    counts["judged otherwise by heed check-schema"] += 1
                    print(f"{name}: {test['description']}: valid is {result['valid']}")
                if accepted == test["valid"]:
                    counts["right"] += 1
                    continue
                what = "wrongly refused" if test["valid"] else "WRONGLY ACCEPTED"
                counts[what] += 1
                print(f"{name}: {test['description']}: {what}")
    for reason, count in reasons.most_common():
        print(f"{count:6} {reason[:200]}")
    for what, count in sorted(counts.items()):
        print(f"{what}: {count}")
    return 1 if sum(counts[what] for what in ("WRONGLY ACCEPTED", "crashes",
                                              "judged otherwise by heed check-schema")) else 0


if __name__ == "__main__":
    sys.exit(main())
