#!/usr/bin/env python3
"""fuzz_test.py HEED [SECONDS [SEED]]: damaged, hostile and impatient clients of heed serve (default: 10 seconds).

Meanwhile another client asks the same again and again: its answer must not change. Run it for an hour with a heed that
was built with AddressSanitizer or ThreadSanitizer, whose report fails it."""

import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
CHAT_TEMPLATE = "{%- for message in messages %}{{ message.role + ': ' + message.content + ' ' }}{% endfor %}"
CONFIG = {
    "model_type": "llama", "vocab_size": 120, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 2, "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "hidden_act": "silu",
    "bos_token_id": 1, "eos_token_id": None,
}
SERVE = f"""
[limits]
queued_requests = 16
body_bytes = 100000
header_seconds = 1
body_seconds = 1
[[model]]
name = "chat"
path = "decoder"
random_weights = 1
[[model]]
name = "nllb"
path = "{GOLDEN}/translation/nllb"
[[model]]
name = "lazy"
path = "{GOLDEN}/translation/opus-mt"
on_first_use = true
"""
VALID = [
    ("/v1/completions", {"model": "chat", "prompt": "the sea", "max_tokens": 8, "temperature": 0.5, "seed": 3}),
    ("/v1/completions", {"model": "chat", "prompt": [[1, 2], [3]], "max_tokens": 90, "stream": True, "n": 3, "logprobs": 2}),
    ("/v1/chat/completions", {"model": "chat", "messages": [{"role": "user", "content": "in the"}], "max_tokens": 9,
                              "logprobs": True, "top_logprobs": 2, "stop": ["a", "the"], "logit_bias": {"5": -3}}),
    ("/v1/chat/completions", {"model": "chat", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
                              "stream": True, "max_tokens": 300, "stream_options": {"include_usage": True}}),
    ("/v1/embeddings", {"model": "chat", "input": ["sea", "ship and sea"], "encoding_format": "base64", "dimensions": 5}),
    ("/v1/translate", {"model": "nllb", "text": ["and", "a\n\nb"], "source_language": "eng_Latn", "n_best": 2,
                       "target_language": "fra_Latn", "max_new_tokens": 5, "alignments": True}),
    ("/v1/translate", {"model": "lazy", "text": "sea", "max_new_tokens": 5}),
    ("/translate", {"q": ["and"], "source": "en", "target": "fr", "alternatives": 2}),
    ("/v1/score", {"model": "chat", "text": "the sea"}),
    ("/v1/fill", {"model": "chat", "text": "the [MASK]", "top": 3}),
    ("/v1/rerank", {"model": "chat", "query": "a", "documents": ["b", "c"]}),
    ("/v1/tokenize", {"model": "chat", "text": "the sea"}),
    ("/v1/detokenize", {"model": "chat", "tokens": [1, 2, 3]}),
    ("/v1/attention", {"model": "chat", "text": "the sea", "layer": 0, "format": "viewer"}),
]
STRANGE = [None, True, -1, 0, 1, 2**63, -2**63, 1e308, -0.5, "", "a" * 5000, "\u0000", "\U0001f600", [], {}, [[]], [None],
           [1, "a"], {"a": {"b": []}}, [[[[[[1]]]]]], "nan", "<|im_end|>", [0] * 3000, "\n" * 50]


def mutated(generator, value, depth=0):
    """A JSON value with a few parts replaced, removed, repeated or renamed."""
    if generator.random() < 0.12:
        return generator.choice(STRANGE)
    if isinstance(value, dict):
        result = {}
        for key, inner in value.items():
            kind = generator.random()
            if kind < 0.04:
                continue
            result[key + "x" if kind < 0.06 else key] = mutated(generator, inner, depth + 1)
        return result
    if isinstance(value, list):
        return [mutated(generator, inner, depth + 1) for inner in value] * generator.choice([1, 1, 1, 2])
    return value


def damaged(generator, data):
    """Bytes with some changed, removed or doubled."""
    data = bytearray(data)
    for _ in range(generator.randint(1, 8)):
        at = generator.randrange(len(data))
        kind = generator.random()
        if kind < 0.5:
            data[at] = generator.randrange(256)
        elif kind < 0.75:
            del data[at:at + generator.randint(1, 20)]
        else:
            data[at:at] = data[at:at + generator.randint(1, 200)]
        if not data:
            return b"\r\n"
    return bytes(data)


def request(generator):
    """A request, as bytes."""
    path, body = generator.choice(VALID)
    kind = generator.random()
    if kind < 0.6:
        body = mutated(generator, body)
    data = json.dumps(body, ensure_ascii=generator.random() < 0.5).encode("utf-8", "surrogatepass")
    if 0.6 < kind < 0.7:
        data = damaged(generator, data)
    headers = generator.choice(["", "", "X-Request-Timeout: 0.01\r\n", "Expect: 100-continue\r\n",
                                "Connection: close\r\n", "Origin: http://x\r\n", "X-Request-Id: \x01\r\n"])
    if generator.random() < 0.2:
        size = generator.randint(1, 50)
        parts = [data[i:i + size] for i in range(0, len(data), size)]
        framing, data = "Transfer-Encoding: chunked", b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"
    else:
        framing = f"Content-Length: {len(data)}"
    method = generator.choice(["POST"] * 12 + ["GET", "HEAD", "PUT", "BREW"])
    whole = f"{method} {path} HTTP/1.{generator.choice('1110')}\r\nHost: x\r\n{headers}{framing}\r\n\r\n".encode("latin-1") + data
    return damaged(generator, whole) if 0.7 < kind < 0.85 else whole


def attack(generator, port, until):
    """Connections that send requests, in pieces, in a row, and leave when they like."""
    count = 0
    while time.monotonic() < until:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
                data = b"".join(request(generator) for _ in range(generator.choice([1, 1, 1, 2, 5])))
                count += 1
                size = generator.choice([len(data), 1000, 7])
                for begin in range(0, min(len(data), 40 * size), size):
                    connection.sendall(data[begin:begin + size])
                patience = generator.choice([0, 0.001, 0.01, 0.1, 1])
                connection.settimeout(max(patience, 0.001))
                end = time.monotonic() + patience
                while time.monotonic() < end and connection.recv(65536):
                    pass
        except OSError:
            pass
    return count


def ask(port):
    """The answer that must not change."""
    body = json.dumps({"model": "chat", "prompt": "went out", "max_tokens": 24, "temperature": 0.9, "seed": 1,
                       "logprobs": 1}).encode()
    while True:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                               % len(body) + body)
            answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        if " 200 OK" in answer.splitlines()[0]:
            return json.loads(answer.split("\r\n\r\n", 1)[1])["choices"]
        assert " 429 " in answer.splitlines()[0], answer  # the queue is full: once more
        time.sleep(0.05)


def main():
    heed = pathlib.Path(sys.argv[1]).resolve()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        decoder = directory / "decoder"
        decoder.mkdir()
        (decoder / "tokenizer.model").write_bytes((GOLDEN / "sentencepiece/bpe.model").read_bytes())
        (decoder / "tokenizer_config.json").write_text('{"add_bos_token": false, "add_eos_token": false}')
        (decoder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
        (decoder / "config.json").write_text(json.dumps(CONFIG))
        (directory / "serve.toml").write_text(SERVE)
        with open(directory / "errors", "w+") as errors:
            process = subprocess.Popen([heed, "serve", "--quiet", "--config", "serve.toml", "--port", "0"], cwd=directory,
                                       stderr=errors, env={**os.environ, "HF_HUB_OFFLINE": "1"})
            try:
                port = None
                while port is None:
                    assert process.poll() is None, (directory / "errors").read_text()
                    found = re.search(r"http://127\.0\.0\.1:(\d+)", (directory / "errors").read_text())
                    port = int(found.group(1)) if found else time.sleep(0.1)
                expected = ask(port)
                until = time.monotonic() + seconds
                counts = [0] * 6
                threads = [threading.Thread(daemon=True, target=lambda i=i: counts.__setitem__(
                    i, attack(random.Random(seed + i), port, until))) for i in range(len(counts))]
                for thread in threads:
                    thread.start()
                asked = 0
                while time.monotonic() < until:
                    assert ask(port) == expected, "the answer of another client has changed"
                    asked += 1
                for thread in threads:
                    thread.join()
                process.terminate()
                status = process.wait(60)
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        said = (directory / "errors").read_text()
    assert status == 0 and "ERROR" not in said and "WARNING" not in said, f"status {status}\n{said[-5000:]}"
    print(f"{sum(counts)} connections, {asked} equal answers, status 0")


if __name__ == "__main__":
    main()
