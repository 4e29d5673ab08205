#!/usr/bin/env python3
"""Requests whose texts are as long as a body may be, while others are served.

    tests/judges/serving/long_texts.py HEED [MEGABYTES [PAIRS]]

Sends PAIRS (64) times two requests of MEGABYTES (2) of Chinese and of emoji, all at once, to an English translator, and
asks for short translations and completions beside them. Wanted: every short request is answered with 200 and within a
second, every long one is answered, and SIGTERM in the middle of as many long requests ends the server within its
drain_seconds and one second. The models are the tiny ones of tests/golden: what is measured is reading, not computing.
"""
import collections
import http.client
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden"
DRAIN_SECONDS = 3
QUIET_SECONDS = 5
LONGEST_SECONDS = 1.0  # of a short request
CONFIG = f"""drain_seconds = {DRAIN_SECONDS}
[[model]]
name = "en-de"
path = "{GOLDEN}/translation/opus-mt"
[[model]]
name = "lm"
path = "decoder"
random_weights = 1
"""
DECODER = {
    "model_type": "llama", "vocab_size": 120, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 2, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "hidden_act": "silu",
}
SHORT = {"/v1/translate": {"model": "en-de", "text": "the sea", "max_new_tokens": 8},
         "/v1/tokenize": {"model": "lm", "text": "the sea"},
         "/v1/completions": {"model": "lm", "prompt": [5, 6, 7], "max_tokens": 8}}


def ask(port, path, body):
    """The status and the seconds of a request on a connection of its own; 0 if the connection is closed."""
    begin = time.monotonic()
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body))
        answer = connection.getresponse()
        answer.read()
        return answer.status, time.monotonic() - begin
    except (OSError, http.client.HTTPException):
        return 0, time.monotonic() - begin


def long_bodies(megabytes, pairs):
    characters = int(megabytes * 1e6)
    texts = ["翻訳" * (characters // 6), "😀🚢" * (characters // 8)]
    return [json.dumps({"model": "en-de", "text": text}, ensure_ascii=False).encode() for text in texts] * pairs


def attack(port, bodies, results):
    threads = [threading.Thread(target=lambda body=body: results.append(ask(port, "/v1/translate", body)), daemon=True)
               for body in bodies]
    for thread in threads:
        thread.start()
    return threads


def ask_until(port, ended):
    """Short requests of all kinds in turn until ended() is true: the seconds of each, by path, and their statuses."""
    seconds, statuses = collections.defaultdict(list), collections.Counter()
    while not ended():
        for path, body in SHORT.items():
            status, took = ask(port, path, body)
            seconds[path].append(took)
            statuses[status] += 1
    return seconds, statuses


def describe(name, seconds, statuses):
    for path, values in sorted(seconds.items()):
        values.sort()
        print(f"{name} {path}: {len(values)} requests, median {statistics.median(values) * 1e3:.1f} ms, "
              f"99% {values[int(len(values) * 0.99)] * 1e3:.1f} ms, longest {values[-1] * 1e3:.1f} ms")
    print(f"{name}: statuses {dict(statuses)}")


def start(heed, directory):
    (directory / "serve.toml").write_text(CONFIG)
    decoder = directory / "decoder"
    decoder.mkdir()
    (decoder / "tokenizer.model").write_bytes((GOLDEN / "sentencepiece/bpe.model").read_bytes())
    (decoder / "config.json").write_text(json.dumps(DECODER))
    server = subprocess.Popen([heed, "serve", "--config", "serve.toml", "--port", "0", "--quiet"], cwd=directory,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    while True:
        line = server.stderr.readline()
        assert line, "the server has ended"
        if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
            return server, int(found.group(1))


def main():
    heed = pathlib.Path(sys.argv[1]).resolve()
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 2
    bodies = long_bodies(megabytes, int(sys.argv[3]) if len(sys.argv) > 3 else 64)
    failures = []
    with tempfile.TemporaryDirectory() as name:
        server, port = start(heed, pathlib.Path(name))
        try:
            end = time.monotonic() + QUIET_SECONDS
            describe("alone", *ask_until(port, lambda: time.monotonic() > end))
            results, begin = [], time.monotonic()
            threads = attack(port, bodies, results)
            seconds, statuses = ask_until(port, lambda: not any(thread.is_alive() for thread in threads)
                                          or time.monotonic() > begin + 300)
            describe("beside long texts", seconds, statuses)
            print(f"long texts: {len(results)} of {len(bodies)} answered in {time.monotonic() - begin:.1f} s, statuses "
                  f"{dict(collections.Counter(status for status, _ in results))}")
            if set(statuses) != {200}:
                failures.append("a short request was not answered with 200")
            if max(map(max, seconds.values())) > LONGEST_SECONDS:
                failures.append(f"a short request took more than {LONGEST_SECONDS} s")
            if len(results) < len(bodies) or any(status not in (200, 400) for status, _ in results):
                failures.append("a long request was not answered")
            attack(port, bodies, [])
            time.sleep(1)
            begin = time.monotonic()
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(60)
                print(f"SIGTERM: ended after {time.monotonic() - begin:.1f} s, drain_seconds is {DRAIN_SECONDS}")
            except subprocess.TimeoutExpired:
                print("SIGTERM: not ended after 60 s")
            if time.monotonic() - begin > DRAIN_SECONDS + 1:
                failures.append("the server did not end in time")
        finally:
            server.kill()
            server.wait()
    for failure in failures:
        print("failed:", failure)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
