#!/usr/bin/env python3
"""64 connections of mixed requests for three minutes, beside the programs without a server.

    tests/judges/serving/mixed_load.py HEED CHAT_MODEL [SECONDS]

Every connection asks for texts at temperature 0 and above, translations and vectors, in its own random order, as one
answer and as a stream. Each must be what `heed generate`, `translate` and `embed` print for the same line. CHAT_MODEL
decodes; the translator and the embedder are tiny ones of tests/golden.
"""
import asyncio
import collections
import json
import pathlib
import random
import subprocess
import sys
import time

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "bench"))
from load.client import Client  # noqa: E402
from load.server import Server  # noqa: E402

CONNECTIONS, TOKENS = 64, 24
TRANSLATOR, EMBEDDER = TREE / "tests/golden/translation/opus-mt", TREE / "tests/golden/encoders/embed-bert"
WORDS = "the old sea ship went out in and God said let there be light upon water".split()


def texts(count):
    generator = random.Random(1)
    return [" ".join(generator.choices(WORDS, k=generator.randint(2, 8))) for _ in range(count)]


class Offline:
    """What the programs print for each text."""

    def __init__(self, heed, model, lines):
        def run(command, path, *options):
            return subprocess.run([heed, command, "--model", str(path), *options], input="\n".join(lines) + "\n",
                                  capture_output=True, text=True, check=True).stdout

        tokens = ["--max-new-tokens", str(TOKENS)]
        decoded = [json.loads(each) for each in run("generate", model, *tokens, "--json").splitlines()]
        self.generated = [each["text"] for each in decoded]
        self.sampled = [json.loads(each)["text"] for each in run(
            "generate", model, *tokens, "--json", "--temperature", "0.9", "--seed", "5").splitlines()][:1]
        self.translated = run("translate", TRANSLATOR).splitlines()
        self.vectors = [json.loads(each)["embedding"] for each in run("embed", EMBEDDER).splitlines()]


async def main():
    heed, model = sys.argv[1], sys.argv[2]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 180
    lines = texts(40)
    offline = Offline(heed, model, lines)
    counts, wrong = collections.Counter(), []

    async def generate(client, i):
        answer = await client.post("/v1/completions", model="decoder", prompt=lines[i], max_tokens=TOKENS,
                                   temperature=0)
        return answer["choices"][0]["text"], offline.generated[i]

    async def stream(client, i):
        text = ""
        async for _, event in client.stream("/v1/completions", model="decoder", prompt=lines[i], max_tokens=TOKENS,
                                            temperature=0):
            text += event["choices"][0]["text"] if event["choices"] else ""
        return text, offline.generated[i]

    async def sample(client, _):
        answer = await client.post("/v1/completions", model="decoder", prompt=lines[0], max_tokens=TOKENS,
                                   temperature=0.9, seed=5)
        return answer["choices"][0]["text"], offline.sampled[0]

    async def translate(client, i):
        answer = await client.post("/v1/translate", model="translator", text=lines[i])
        return answer["translations"][0]["text"], offline.translated[i]

    async def embed(client, i):
        answer = await client.post("/v1/embeddings", model="embedder", input=lines[i])
        return answer["data"][0]["embedding"], offline.vectors[i]

    kinds = [generate, stream, sample, translate, embed]

    with Server(heed, {"decoder": model, "translator": TRANSLATOR, "embedder": EMBEDDER}, 2) as server:
        end = time.monotonic() + seconds

        async def connection(number):
            generator = random.Random(number)
            async with Client(server.port) as client:
                while time.monotonic() < end:
                    kind, i = generator.choice(kinds), generator.randrange(len(lines))
                    found, expected = await kind(client, i)
                    counts[kind.__name__] += 1
                    if found != expected:
                        wrong.append((kind.__name__, i, found, expected))

        await asyncio.gather(*[connection(number) for number in range(CONNECTIONS)])
    for kind, i, found, expected in wrong[:5]:
        print(kind, i, str(found)[:200], "!=", str(expected)[:200])
    print(f"{sum(counts.values())} answers at {CONNECTIONS} connections in {seconds:.0f} s: {dict(counts)}; "
          f"{len(wrong)} differ from the programs")
    return 1 if wrong or server.status else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
