"""Runs llama.cpp's scripts/server-bench.py, unchanged, against a server that is running.

    python server_bench.py SERVER_BENCH_PY STREAMS OPTION...

The requests go to /v1/completions. What only llama-server knows, `ignore_eos`, becomes OpenAI's `logit_bias`
against the tokens of STOP_TOKENS (words of the environment), and the temperature 0 is said, for both servers. Each
request has its own connection, since llama-server closes some that are kept, and that ends server-bench.py.
Prints one line of JSON: seconds, tokens that arrived, and processor seconds of this process.
"""
import json
import os
import re
import runpy
import sys
import time
import types
from unittest import mock

import requests

# Only its plots and its dataset need these.
for name in ("datasets", "matplotlib"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["matplotlib"].pyplot = sys.modules["matplotlib.pyplot"] = mock.MagicMock()
STOP_TOKENS = os.environ["STOP_TOKENS"].split()
post = requests.Session.post


def completion(session, url, json, **options):
    body = {name: value for name, value in json.items() if name != "ignore_eos"}
    body |= {"temperature": 0, "logit_bias": {token: -100 for token in STOP_TOKENS}}
    return post(session, url, json=body, headers={"Connection": "close"}, **options)


def main():
    script, streams, *options = sys.argv[1:]
    os.environ["LLAMA_ARG_N_PARALLEL"] = streams
    requests.Session.post = completion
    lines = []
    sys.argv = [script, *options]
    begin = time.process_time()
    with mock.patch("logging.Logger.info", lambda _, text, *rest: lines.append(text)):
        runpy.run_path(script, run_name="__main__")
    used = time.process_time() - begin
    text = "\n".join(lines)
    seconds = float(re.search(r"Benchmark duration: +([\d.]+)", text).group(1))
    tokens = int(re.search(r"Total generated tokens: +(\d+)", text).group(1))
    print(json.dumps({"seconds": seconds, "tokens": tokens, "client_seconds": used}))


if __name__ == "__main__":
    main()
