#!/usr/bin/env python3
"""Answers of a chat model under JSON Schemas at temperature 1.5, judged by Python's jsonschema.

    answers.py HEED CHAT_MODEL [COUNT]

For each kind of schema COUNT (1,000) answers of at most 120 tokens, 32 at a time, all completed ("complete"). Prints
those that are no JSON, not valid, or cut off, and ends with 1 if there is one. Needs the packages jsonschema and
rfc3339-validator.
"""
import asyncio
import json
import pathlib
import sys

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from load.client import Client  # noqa: E402
from load.server import Server  # noqa: E402


def object_of(properties, **more):
    return {"type": "object", "properties": properties, "required": list(properties),
            "additionalProperties": False, **more}


KINDS = {
    "object": object_of({"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0},
                         "happy": {"type": "boolean"}}),
    "free object": {"type": "object", "maxProperties": 3, "minProperties": 1,
                    "additionalProperties": {"type": ["integer", "null", "boolean"]}},
    "nested": object_of({"from": object_of({"x": {"type": "number"}}), "to": {"$ref": "#/properties/from"}}),
    "array": {"type": "array", "items": {"type": "integer", "exclusiveMaximum": 1000}, "minItems": 2, "maxItems": 6},
    "tuple": {"type": "array", "prefixItems": [{"enum": ["a", "b"]}, {"type": "boolean"}], "items": False,
              "minItems": 2},
    "unique": {"type": "array", "items": {"enum": [1, 2, 3, 4, 5, "six"]}, "uniqueItems": True, "minItems": 3},
    "contains": {"type": "array", "items": {"type": "integer", "minimum": 0}, "contains": {"multipleOf": 7},
                 "minItems": 1, "maxItems": 5},
    "numbers": object_of({"price": {"type": "number", "minimum": 0.5, "maximum": 99.5, "multipleOf": 0.25},
                          "even": {"type": "integer", "multipleOf": 2}}),
    "strings": object_of({"code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3,5}$"},
                          "note": {"type": "string", "minLength": 3, "maxLength": 10}}),
    "formats": object_of({"day": {"type": "string", "format": "date"},
                          "at": {"type": "string", "format": "date-time"},
                          "mail": {"type": "string", "format": "email", "maxLength": 20}}),
    "any of": {"anyOf": [{"type": "integer"}, {"type": "null"}, object_of({"why": {"enum": ["x", "y"]}})]},
    "one of": {"oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}]},
    "if then": object_of({"kind": {"enum": ["cat", "car"]}, "legs": {"type": "integer"}},
                         **{"if": {"properties": {"kind": {"const": "cat"}}},
                            "then": {"properties": {"legs": {"const": 4}}},
                            "else": {"properties": {"legs": {"const": 0}}}}),
    "recursive": {"type": "object", "properties": {"value": {"type": "integer"}, "next": {"$ref": "#"}},
                  "required": ["value"], "additionalProperties": False},
    "enum": {"enum": ["red", "green", {"mixed": [1, 2]}, None, 2.5]},
}


async def judge(port, name, schema, count):
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    gate = asyncio.Semaphore(32)
    faults = []

    async def one(seed):
        async with gate, Client(port) as client:
            answer = await client.post(
                "/v1/chat/completions", model="m", seed=seed, temperature=1.5, max_tokens=120,
                messages=[{"role": "user", "content": f"Give an example of {name}."}],
                response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": schema}},
                structured_outputs={"complete": True})
        choice = answer["choices"][0]
        text = choice["message"]["content"]
        try:
            validator.validate(json.loads(text))
        except (ValueError, jsonschema.ValidationError) as error:
            faults.append((seed, text, str(error).splitlines()[0]))
        if choice["finish_reason"] != "stop":
            faults.append((seed, text, choice["finish_reason"]))
        return answer["usage"]["completion_tokens"]

    tokens = sum(await asyncio.gather(*[one(seed) for seed in range(count)]))
    for fault in faults[:5]:
        print(name, *fault)
    print(f"{name}: {count} answers of {tokens} tokens, {len(faults)} faults", flush=True)
    return len(faults)


async def main():
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    with Server(sys.argv[1], {"m": sys.argv[2]}, 2) as server:
        faults = [await judge(server.port, name, schema, count) for name, schema in KINDS.items()]
    print(f"{len(KINDS)} kinds, {sum(faults)} faults")
    return 1 if sum(faults) else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
