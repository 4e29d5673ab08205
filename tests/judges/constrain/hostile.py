#!/usr/bin/env python3
"""Measures what hostile regular expressions, grammars and JSON Schemas cost.

    hostile.py CONSTRAIN_JUDGE [NAME]

Each is compiled five times by a process of its own. Prints the least of the processor times, how much
the memory of the process has grown, and why it was refused, the dearest first. Ends with 1 if one that
is refused takes more than MILLISECONDS, or any more than MEGABYTES. NAME restricts it to inputs with
that in their names.
"""
import json
import sys

from program import Judge

MILLISECONDS, MEGABYTES = 100, 64


def chain(count, before, behind, last=None):
    """Rules each of which refers to the next; the last one to the first unless it is given."""
    size = count if last is None else count + 1
    rules = ["r%d ::= %sr%d%s" % (i, before, (i + 1) % size, behind) for i in range(count)]
    return "\n".join(["root ::= r0"] + rules + ([] if last is None else ["r%d ::= %s" % (count, last)]))


def doubling(count, last):
    rules = ["r%d ::= r%d r%d" % (i, i + 1, i + 1) for i in range(count)]
    return "\n".join(["root ::= r0"] + rules + ["r%d ::= %s" % (count, last)])


def looks(kind, count, size):
    return "".join("(?%s.*%s.{%d})" % (kind, chr(97 + i), size + i) for i in range(count)) + ".*"


def definitions(count, schema, **others):
    return {"$defs": {"d%d" % i: schema(i) for i in range(count)}, **others}


def ref(number):
    return {"$ref": "#/$defs/d%d" % number}


def properties(count, schema):
    return {"p%d" % i: schema(i) for i in range(count)}


def patterns(count, pattern):
    return {"type": "string", "allOf": [{"pattern": pattern % (chr(97 + i), i + 5)} for i in range(count)]}


REGEXES = {
    "copies of copies": "(a|a)*{1000}{1000}", "products": "(a{1000}){1000}{1000}{1000}",
    "levels": "(" * 60000, "stars": "(" * 190 + "a" + ")*" * 190, "options": "(a?){5000}a{5000}",
    "windows": "(.*a.{50}){20}", "looks": looks("=", 3, 30), "not looks": looks("!", 16, 5) + "z.{40}",
    "nested looks": "(?!" * 150 + "a" + ")" * 150, "many looks": "(?=.*a.{9})" * 500 + ".*",
    "empty looks": "(?=((aa){7})*$)(?=((aa){11})*$)(?=((aa){13})*$)(?=((aa){17})*$)a(aa)*",
    "empty windows": "(?=.*a.{18}b$)(?=.*a.{18}c$).*", "counts": "([a-z]{1,600}x){1,600}",
    "categories": r"(\p{L}|\p{N}|\p{P}|\P{Lu}|[^\p{Ll}])" * 1000, "classes": "[^a]" * 16000,
    "alternatives": "|".join(".*%d" % (i * 7919) for i in range(5000)), "anchors": "(((^a|b){9}){9}){9}",
}
GRAMMARS = {
    "levels": "root ::= " + "(" * 100000 + '"a"' + ")" * 100000, "ambiguous": 'root ::= root root | "a" |',
    "cycle": chain(100000, "", ' | "a"'), "left recursion": chain(100000, "", ' "b" | "a"'),
    "right recursion": chain(100000, '"a" ', ' | "a"'), "options": chain(100000, '"a"? ', ' "b" | "a"'),
    "no text": chain(100000, '"a" ', "", "r5"), "wide": "root ::= " + '"a"? ' * 200000,
    "alternatives": "root ::= " + " | ".join('root "%d"' % (i * 7919) for i in range(50000)) + ' | ""',
    "doubling": doubling(60, '"a"'), "recursive doubling": doubling(60, '"a" | "(" root ")"'),
    "copies": 'x ::= root "b" | "c"\nroot ::= x{0,20000} "a"', "literal": 'root ::= "' + "ab" * 500000 + '"',
    "class": "root ::= [" + "".join(chr(0x9000 - 2 * i) for i in range(10000)) + "]*",
}
SCHEMAS = {
    "levels": "[" * 100000 + "]" * 100000, "nots": '{"not":' * 250 + "true" + "}" * 250,
    "allOf chain": definitions(10000, lambda i: {"allOf": [ref((i + 1) % 10000)]}, allOf=[ref(0)]),
    "$ref chain": definitions(10000, lambda i: ref((i + 1) % 10000), **ref(0)),
    "items chain": definitions(10000, lambda i: {"items": ref((i + 1) % 10000), "minItems": i % 3}, **ref(0)),
    "products": {"allOf": [{"anyOf": [{"required": ["a%d" % i]}, {"required": ["b%d" % i]}]}
                           for i in range(30)]},
    "oneOf": {"oneOf": [{"properties": {"p%d" % i: {"type": "string"}}} for i in range(40)]},
    "multiples": {"type": "integer", "multipleOf": 999999937, "not": {"multipleOf": 999999893}},
    "properties": {"properties": properties(20000, lambda i: {"maxLength": i})},
    "required": {"type": "object", "required": ["p%d" % i for i in range(20000)]},
    "recursive": {"properties": properties(5000, lambda i: {"properties": {"q%d" % i: {"$ref": "#"}}})},
    "values": {"enum": ["v%d" % (i * 7919) for i in range(100000)]}, "long values": {"enum": ["x" * 1000000]},
    "not values": {"not": {"enum": [[i] for i in range(300)]}},
    "contains": {"maxItems": 600, "allOf": [{"contains": {k: 3}, "maxContains": 300}
                                            for k in ("minimum", "maximum", "multipleOf")]},
    "patternProperties": {"patternProperties": {"a.*%d" % i: {"minLength": i} for i in range(60)},
                          "properties": properties(3000, lambda i: True)},
    "dependencies": {"dependentRequired": {"p%d" % i: ["p%d" % (i + 1)] for i in range(200)}},
    "patterns": patterns(20, "%s.{%d}z"), "empty patterns": patterns(9, "^.*x.{15}%s.{%d}$"),
    "members": "{" + ",".join('"k%d": %d' % (i, i) for i in range(200000)) + "}",
}


def peak_megabytes(process):
    for line in open("/proc/%d/status" % process.pid):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024


def main():
    rows = []
    for kind, inputs in (("regex", REGEXES), ("gbnf", GRAMMARS), ("json_schema", SCHEMAS)):
        for name, source in inputs.items():
            if len(sys.argv) > 2 and sys.argv[2] not in name:
                continue
            source = source if isinstance(source, str) else json.dumps(source)
            judge = Judge(sys.argv[1])
            judge.ask(kind="regex", source="x" * len(source))  # memory of the request
            before = peak_megabytes(judge.process)
            answers = [judge.ask(kind=kind, source=source) for _ in range(5)]
            if "crash" in answers[-1]:
                sys.exit("%s %s: %s" % (kind, name, answers[-1]["crash"]))
            times = [each.get("refused_us", each.get("compile_us")) / 1000 for each in answers]
            rows.append((min(times), peak_megabytes(judge.process) - before, kind, name,
                         answers[0].get("error", "")[-90:]))
            judge.process.kill()
    for row in sorted(rows, reverse=True):
        print("%6.1f ms %6.1f MB  %s, %s: %s" % row)
    sys.exit(any(mb > MEGABYTES or (reason and ms > MILLISECONDS) for ms, mb, _, _, reason in rows))


if __name__ == "__main__":
    main()
