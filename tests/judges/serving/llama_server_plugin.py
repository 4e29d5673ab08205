"""A plugin of pytest: llama.cpp's server tests talk to heed serve. Used by llama_server_tests.sh.

Each ServerProcess starts a heed serve with the options that it asks for: the name of the model, keys, origins, slots.
Models are those of the environment, since those of the tests are not at hand. Requests keep their words, except that

- a path of llama.cpp's own that stands for one of OpenAI's becomes that one (PATHS),
- n_predict becomes max_tokens, and the server's default of it and of the temperature is said with the request,
- a model's name that llama-server ignores is left out, since heed has the models that it was told, and so is a slot.

No assertion is changed. llama_server_skipped.txt says which tests are not run: lines of a pattern of names and, after
a colon and a space, the reason.
"""
import collections
import fnmatch
import json
import os
import pathlib
import subprocess
import tempfile
import time

import pytest
import requests

PATHS = {"/chat/completions": "/v1/chat/completions", "/completions": "/v1/completions", "/models": "/v1/models",
         "/responses": "/v1/responses"}
GENERATION = ("/v1/chat/completions", "/v1/completions", "/v1/responses")
SKIPPED = pathlib.Path(__file__).with_name("llama_server_skipped.txt")


def reasons():
    lines = [line for line in SKIPPED.read_text().splitlines() if line and not line.startswith("#")]
    return [line.split(": ", 1) for line in lines]


def model_of(server):
    if server.server_embeddings:
        return os.environ["EMBEDDING_MODEL"]
    return os.environ["RERANKER" if server.server_reranking else "CHAT_MODEL"]


def start(server, timeout_seconds=60):
    """ServerProcess.start() for heed serve."""
    folder = pathlib.Path(tempfile.mkdtemp())
    settings = [f"port = {server.server_port}"]
    if server.api_key:
        keys = folder / "keys.txt"
        keys.touch(mode=0o600)
        keys.write_text(server.api_key + "\n")
        settings.append(f"api_key_file = {json.dumps(str(keys))}")
        settings.append('cors_origins = ["*"]')
    settings += ["[[model]]", f"name = {json.dumps(server.model_alias)}", f"path = {json.dumps(model_of(server))}"]
    if server.n_slots and not server.server_embeddings and not server.server_reranking:
        settings.append(f"max_active_requests = {server.n_slots}")
    config = folder / "serve.toml"
    config.write_text("\n".join(settings) + "\n")
    server.process = subprocess.Popen([os.environ["HEED"], "serve", "--quiet", "--threads", "2", "--config", config])
    running.append(server)
    for _ in range(timeout_seconds * 10):
        if server.process.poll() is not None:
            raise RuntimeError("heed serve ended")
        try:
            if requests.get(server.make_url("/health"), timeout=5).status_code == 200:
                return
        except requests.ConnectionError:
            pass
        time.sleep(0.1)
    raise TimeoutError("heed serve is not ready")


def stop(server):
    if server.process:
        server.process.terminate()
        server.process.wait()
        server.process = None


running = []


def translated(body, path):
    """The request of a test in the words of OpenAI's API."""
    if not isinstance(body, dict):
        return body
    body = dict(body)
    body.pop("model", None)
    body.pop("id_slot", None)
    if path in GENERATION and running:
        server = running[-1]
        limit = "max_output_tokens" if path == "/v1/responses" else "max_tokens"
        if "n_predict" in body:
            body[limit] = body.pop("n_predict")
        elif server.n_predict and limit not in body:
            body[limit] = server.n_predict
        body.setdefault("temperature", server.temperature)
    return body


@pytest.fixture(autouse=True)
def heed_serve(monkeypatch):
    import utils
    from openai._base_client import BaseClient

    def make_url(server, path, host=None):
        return f"http://{host or server.server_host}:{server.server_port}{PATHS.get(path, path)}"

    def post(url, headers=None, json=None, **options):
        return original_post(url, headers=headers, json=translated(json, "/" + url.split("/", 3)[3]), **options)

    def build_request(client, options, **rest):
        path = options.url if "/v1" in str(client.base_url) else PATHS.get(options.url, options.url)
        options = options.model_copy(update={"url": path, "json_data": translated(
            options.json_data, "/v1/" + path.removeprefix("/v1").lstrip("/"))})
        return original_build(client, options, **rest)
    original_post, original_build = requests.post, BaseClient._build_request
    monkeypatch.setattr(utils.ServerProcess, "start", start)
    monkeypatch.setattr(utils.ServerProcess, "stop", stop)
    monkeypatch.setattr(utils.ServerProcess, "make_url", make_url)
    monkeypatch.setattr(requests, "post", post)
    monkeypatch.setattr(BaseClient, "_build_request", build_request)
    yield
    while running:
        stop(running.pop())


def pytest_configure():
    import sys
    sys.path.insert(0, os.getcwd())
    import utils
    utils.ServerPreset.load_all = staticmethod(lambda: None)


counts = collections.Counter()


def pytest_collection_modifyitems(items):
    patterns = reasons()
    for item in items:
        name = item.nodeid.removeprefix("unit/")
        if item.get_closest_marker("slow"):
            name = "slow"
        for pattern, reason in patterns:
            if fnmatch.fnmatchcase(name, pattern):
                counts[pattern, reason] += 1
                item.add_marker(pytest.mark.skip(reason=reason))
                break


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("\nskipped:")
    for (pattern, reason), count in counts.items():
        terminalreporter.write_line(f"{count:5} {pattern}: {reason}")
