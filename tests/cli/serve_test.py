#!/usr/bin/env python3
"""serve_test.py HEED: what heed serve promises as a program: start, log, reload, end, refusals."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HEED = pathlib.Path(sys.argv[1]).resolve()
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
# Never ends by itself, since it has no end-of-sequence token.
CONFIG = {
    "model_type": "llama", "vocab_size": 120, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 2, "max_position_embeddings": 1 << 20, "rms_norm_eps": 1e-5, "hidden_act": "silu",
    "bos_token_id": 1, "eos_token_id": None,
}
MODEL = '[[model]]\nname = "{}"\npath = "decoder"\nrandom_weights = {}\n'


def make_decoder(directory):
    directory.mkdir()
    (directory / "tokenizer.model").write_bytes((GOLDEN / "sentencepiece/bpe.model").read_bytes())
    (directory / "tokenizer_config.json").write_text('{"add_bos_token": false, "add_eos_token": false}')
    (directory / "config.json").write_text(json.dumps(CONFIG))


class Server:
    def __init__(self, directory, environment=None):
        self.notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        address = directory / "notify"
        address.unlink(missing_ok=True)
        self.notifications.bind(str(address))
        self.notifications.settimeout(20)
        self.log = open(directory / "log", "w+")
        self.process = subprocess.Popen(
            [HEED, "serve", "--config", "serve.toml", "--port", "0"], cwd=directory, stdout=self.log,
            stderr=subprocess.PIPE, text=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "NOTIFY_SOCKET": str(address), **(environment or {})})
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line
        self.port = int(found.group(1))

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, method, path, body=None, headers=None):
        connection = self.connection()
        connection.request(method, path, json.dumps(body) if body is not None else None, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers

    def models(self):
        return [one["id"] for one in json.loads(self.ask("GET", "/v1/models")[1])["data"]]

    def begin_stream(self, tokens):
        connection = self.connection()
        connection.request("POST", "/v1/completions", json.dumps(
            {"model": "a", "prompt": "the sea", "max_tokens": tokens, "stream": True}))
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        first = answer.readline()
        assert first.startswith(b"data: {"), first
        return answer

    def notification(self):
        return self.notifications.recv(1000).decode()

    def said(self):
        return self.process.stderr.readline().strip()


def read_along(answer):
    """Reads a stream that is not expected to end well; a client that does not read is dropped."""
    def read():
        with contextlib.suppress(OSError, http.client.HTTPException):
            answer.read()
    threading.Thread(target=read, daemon=True).start()


def text_of(answer):
    """The rest of a stream, which must be whole."""
    lines = [line for line in answer.read().decode().split("\n\n") if line]
    assert lines[-1] == "data: [DONE]", lines[-1]
    assert json.loads(lines[-2][6:])["choices"][0]["finish_reason"] == "length", lines[-2]
    return "".join(json.loads(line[6:])["choices"][0]["text"] for line in lines[:-1])


@contextlib.contextmanager
def served(directory, models, environment=None):
    (directory / "serve.toml").write_text(models)
    server = Server(directory, environment)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
        server.process.wait()


def refuses_wrong_configurations(directory):
    def run(text, *options, expected=1):
        (directory / "serve.toml").write_text(text)
        done = subprocess.run([HEED, "serve", "--config", "serve.toml", *options], cwd=directory, capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == expected and done.stderr.count("\n") == 1, (done.returncode, done.stderr)
        return done.stderr
    model = MODEL.format("a", 1)
    assert "the configuration is valid" in run(model, "--dry-run", expected=0)
    assert "there is no model to serve" in run("", "--dry-run")
    assert "prt is not a known field" in run("prt = 1\n" + model, "--dry-run")
    assert 'two models have the name "a"' in run(model + model, "--dry-run")
    assert 'model "b"' in run('[[model]]\nname = "b"\npath = "absent"', "--dry-run")
    assert "not an address" in run(model, "--host", "nowhere")
    key = '[[key]]\nname = "k"\nvalue = "secret"\n'
    assert "everyone can read the keys" in run(key + model, "--dry-run")
    assert "one of the two" in run('[[key]]\nname = "k"\n' + model, "--dry-run")
    assert "--port" in run(model, "--port", "70000", expected=2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "Address already in use" in run(model, "--port", str(taken.getsockname()[1]))


def logs_requests_without_their_texts(directory):
    with served(directory, MODEL.format("a", 1)) as server:
        assert server.notification() == "READY=1"
        body = {"model": "a", "prompt": "the secret", "max_tokens": 3}
        status, _, headers = server.ask("POST", "/v1/completions", body, {"X-Request-Id": "mine-7"})
        assert (status, headers["X-Request-Id"]) == (200, "mine-7")
        assert server.ask("POST", "/v1/completions", {"model": "b", "prompt": "x"})[0] == 404
        schema = {"type": "boolean", "title": "a", **{f"colour {i:2}": 1 for i in range(30)}}
        body = {"model": "a", "prompt": "x", "max_tokens": 20, "guided_json": schema}
        assert server.ask("POST", "/v1/completions", body)[0] == 200
        time.sleep(0.2)
        server.log.seek(0)
        text = server.log.read()
        first, second, third = map(json.loads, text.splitlines())
        assert (first["id"], first["status"], first["model"], first["output_tokens"]) == ("mine-7", 200, "a", 3), first
        assert first["queue_seconds"] <= first["first_token_seconds"] <= first["seconds"], first
        assert second["status"] == 404 and "no model" in second["error"], second
        assert third["ignored_keywords"] == [f"colour {i:2}" for i in range(20)], third
        assert "secret" not in text


def reloads_without_dropping_requests(directory):
    with served(directory, MODEL.format("a", 1)) as server:
        assert server.notification() == "READY=1"
        expected = text_of(server.begin_stream(2000))
        stream = server.begin_stream(2000)
        (directory / "serve.toml").write_text(MODEL.format("a", 1) + MODEL.format("b", 2))
        server.process.send_signal(signal.SIGHUP)
        assert server.notification().startswith("RELOADING=1\nMONOTONIC_USEC=")
        assert server.notification() == "READY=1"
        assert server.said() == "heed: serving 2 models" and server.models() == ["a", "b"]
        assert text_of(stream) == expected
        stream = server.begin_stream(2000)
        (directory / "serve.toml").write_text(MODEL.format("b", 2))
        server.process.send_signal(signal.SIGHUP)
        server.notification(), server.notification()
        assert server.models() == ["b"], server.models()
        assert text_of(stream) == expected  # of a model that is not served any more
        (directory / "serve.toml").write_text("nonsense")
        server.process.send_signal(signal.SIGHUP)
        server.notification(), server.notification()
        assert "the configuration was not reloaded" in server.said() + server.said()
        assert server.models() == ["b"]


def tells_its_watchdog_that_it_works(directory):
    watched = {"WATCHDOG_USEC": "400000"}
    with served(directory, MODEL.format("a", 1), watched) as server:
        assert [server.notification() for _ in range(3)] == ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]
    with served(directory, MODEL.format("a", 1), {**watched, "WATCHDOG_PID": "1"}) as server:
        assert server.notification() == "READY=1"
        server.notifications.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            raise AssertionError(f"told another process' watchdog {server.notification()}")


def reads_keys_with_names(directory):
    config = 'api_key_file = "keys"\n[[key]]\nname = "ops"\nvalue = "o"\nmanage = true\n' + MODEL.format("a", 1)
    (directory / "keys").write_text("plain\n")
    (directory / "keys").chmod(0o600)
    (directory / "serve.toml").write_text(config)
    (directory / "serve.toml").chmod(0o600)
    with served(directory, config) as server:
        server.notification()
        body = {"model": "a"}
        for header, status in (({}, 401), ({"x-api-key": "plain"}, 403), ({"Authorization": "bearer o"}, 200)):
            assert server.ask("POST", "/models/unload", body, header)[0] == status, header
        time.sleep(0.2)
        server.log.seek(0)
        line = json.loads(server.log.read().splitlines()[-1])
        assert (line["key"], line["path"]) == ("ops", "/models/unload"), line


def ends_after_the_last_answer(directory):
    with served(directory, MODEL.format("a", 1)) as server:
        server.notification()
        expected = text_of(server.begin_stream(6000))
        stream = server.begin_stream(6000)
        server.process.send_signal(signal.SIGTERM)
        assert server.notification() == "STOPPING=1"
        time.sleep(0.2)
        assert server.ask("GET", "/health")[0] == 503
        assert server.ask("POST", "/v1/completions", {"prompt": "the sea"})[0] == 503
        assert text_of(stream) == expected
        assert server.process.wait(20) == 0


def ends_at_once_when_asked_twice(directory):
    with served(directory, "drain_seconds = 100\n" + MODEL.format("a", 1)) as server:
        read_along(server.begin_stream(1 << 19))
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert server.process.poll() is None
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(5) == -signal.SIGTERM


def ends_when_the_time_for_answers_is_over(directory):
    with served(directory, "drain_seconds = 0.5\n" + MODEL.format("a", 1)) as server:
        read_along(server.begin_stream(1 << 19))
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == 0


def answers_short_requests_before_long_ones(directory):
    """And SIGTERM ends it in the middle of the long ones."""
    translator = f'[[model]]\nname = "en-de"\npath = "{GOLDEN}/translation/opus-mt"\n'
    body = json.dumps({"model": "en-de", "text": "翻訳😀" * 40_000}, ensure_ascii=False).encode()
    with served(directory, "drain_seconds = 0.5\n" + MODEL.format("a", 1) + translator) as server:
        server.notification()
        answered = []

        def ask_long():
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = server.connection()
                connection.request("POST", "/v1/translate", body)
                answered.append(connection.getresponse().status)
        threads = [threading.Thread(target=ask_long, daemon=True) for _ in range(16)]
        for thread in threads:
            thread.start()
        for model, path in (("a", "/v1/tokenize"), ("en-de", "/v1/translate")):
            assert server.ask("POST", path, {"model": model, "text": "the sea"})[0] == 200
        assert len(answered) < len(threads), answered
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == 0
        assert all(status in (200, 503) for status in answered), answered


def main():
    tests = [refuses_wrong_configurations, logs_requests_without_their_texts, reloads_without_dropping_requests,
             tells_its_watchdog_that_it_works, reads_keys_with_names, ends_after_the_last_answer, ends_at_once_when_asked_twice, ends_when_the_time_for_answers_is_over,
             answers_short_requests_before_long_ones]
    for test in tests:
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            make_decoder(directory / "decoder")
            begin = time.monotonic()
            test(directory)
            print(f"{test.__name__}: passed ({time.monotonic() - begin:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
