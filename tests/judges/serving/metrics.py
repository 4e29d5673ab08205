#!/usr/bin/env python3
"""`promtool check metrics` (Debian: prometheus) on /metrics after a load of every kind.

    tests/judges/serving/metrics.py HEED CHAT_MODEL EMBEDDING_MODEL TRANSLATION_MODEL
"""
import json
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from load.server import Server  # noqa: E402

MESSAGES = [{"role": "user", "content": "Hello!"}]
# The translation model needs languages only if it knows several pairs.
REQUESTS = [
    ("/v1/completions", {"model": "chat", "prompt": "Once", "max_tokens": 4}),
    ("/v1/chat/completions", {"model": "chat", "messages": MESSAGES, "max_tokens": 4}),
    ("/v1/chat/completions", {"model": "chat", "messages": MESSAGES, "max_tokens": 4,
                              "stream": True}),
    ("/v1/embeddings", {"model": "embed", "input": ["one", "two"]}),
    ("/v1/translate", {"model": "translation", "text": "A text", "max_new_tokens": 8}),
    ("/v1/score", {"model": "chat", "text": "One text"}),
    ("/v1/tokenize", {"model": "chat", "text": "One text"}),
    ("/v1/attention", {"model": "embed", "text": "One text"}),
]
REFUSED = [("/v1/completions", {"model": "none", "prompt": "Once"}),
           ("/v1/completions", {"model": "chat", "prompt": -1})]


def status(server, path, body):
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}",
                                     json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def main():
    heed, chat, embed, translation = sys.argv[1:]
    failed = False
    with Server(heed, {"chat": chat, "embed": embed, "translation": translation}, 2) as server:
        for path, body in REQUESTS + REFUSED:
            code = status(server, path, body)
            failed |= (code == 200) != ((path, body) in REQUESTS)
            print(f"{path:22} {code}")
        url = f"http://127.0.0.1:{server.port}/metrics"
        with urllib.request.urlopen(url, timeout=5) as answer:
            text = answer.read()
    check = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    print((check.stdout + check.stderr).decode(), end="")
    failed |= check.returncode != 0
    print(f"promtool: {len(text.splitlines())} lines, {'failed' if failed else 'passed'}")
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
