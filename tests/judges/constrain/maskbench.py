#!/usr/bin/env python3
"""Compares heed's JSON Schema with MaskBench (github.com/guidance-ai/jsonschemabench).

    maskbench.py build/release/tests/constrain_judge FOLDER [NAME]

FOLDER is maskbench/data of a copy of that repository; NAME restricts it to files with that in their
names. Prints what is wrong, and how many schemas are wholly right: compiled, every valid instance
accepted and every invalid one refused. Instances whose members come in another order than the
schema's, and are accepted in its order, are counted apart from the wrongly refused. `heed
check-schema`, which allows any order, is counted apart, too.
"""
import argparse
import collections
import json
import pathlib
import re
import sys

from program import Judge, quantiles


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judge")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--refused", action="store_true", help="print each refused schema")
    arguments = parser.parse_args()
    judge = Judge(arguments.judge, seconds=60)
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
            if test["valid"] != result["valid"]:
                counts["check-schema: " + ("refused" if test["valid"] else "ACCEPTED")] += 1
                print(path.name, "heed check-schema says valid:", result["valid"])
            if test["valid"] == result["accepted"]:
                continue
            right = False
            text = json.dumps(test["data"], ensure_ascii=False)
            again = judge.schema(json.dumps(case["schema"], ensure_ascii=False), [text],
                                 any_order=True) if test["valid"] else {}
            if again.get("texts", [{}])[0].get("accepted_in_order"):
                counts["refused for the order of members"] += 1
                continue
            what = "wrongly refused" if test["valid"] else "WRONGLY ACCEPTED"
            counts[what] += 1
            text = text.encode()
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
