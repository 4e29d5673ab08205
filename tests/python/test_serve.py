"""heed.Server and heed.serve(): the server of `heed serve` in a Python process."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy
import pytest
from conftest import GOLDEN, make_adapter, make_decoder

import heed

TEXT = "the old ship"


def ask(url, path, body=None, headers=None):
    """The JSON of an answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def completion(url, model, **options):
    return ask(url, "/v1/completions", {"model": model, "prompt": TEXT, "max_tokens": 8, **options})


def begin_long_completion(server):
    """A connection to which the server generates for minutes, and the first part of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    body = {"prompt": TEXT, "max_tokens": 500_000, "stream": True}
    connection.request("POST", "/v1/completions", json.dumps(body))
    answer = connection.getresponse()
    assert answer.status == 200 and answer.readline()
    return connection, answer


@pytest.fixture(scope="module")
def server(decoder, encoder, translator):
    with heed.Server({"lm": decoder, "encoder": encoder, "en-es": {"model": translator, "target_language": "es"}},
                     port=0) as running:
        yield running


def test_answers_are_those_of_the_functions(server, decoder, encoder, translator):
    expected = decoder.generate(TEXT, max_new_tokens=8)
    assert completion(server.url, "lm")["choices"][0]["text"] == expected.text
    vectors = ask(server.url, "/v1/embeddings", {"model": "encoder", "input": ["the sea", TEXT]})["data"]
    assert numpy.array_equal(numpy.array([one["embedding"] for one in vectors], numpy.float32),
                             encoder.embed(["the sea", TEXT]))
    answer = ask(server.url, "/v1/translate", {"model": "en-es", "text": "And God said"})
    assert translator.translate("And God said").text in json.dumps(answer, ensure_ascii=False)
    assert [one["id"] for one in ask(server.url, "/v1/models")["data"]] == ["lm", "encoder", "en-es"]


def test_python_and_clients_use_a_model_at_the_same_time(server, decoder):
    alone = decoder.generate(TEXT, max_new_tokens=200).text
    answers = []

    def ask_often():
        for _ in range(5):
            answers.append(completion(server.url, "lm", max_tokens=200)["choices"][0]["text"])

    threads = [threading.Thread(target=ask_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        assert decoder.generate(TEXT, max_new_tokens=200).text == alone
    for thread in threads:
        thread.join()
    assert answers == [alone] * 20


def test_a_path_is_loaded_and_one_model_needs_no_name(decoder_path, decoder):
    with heed.Server({"lm": {"path": decoder_path, "random_weights": 7, "max_active_requests": 2}}, port=0) as server:
        assert completion(server.url, "lm")["model"] == "lm"
    with heed.Server(decoder, port=0) as server:
        assert ask(server.url, "/v1/models")["data"][0]["id"] == decoder_path.name
    with heed.Server(GOLDEN / "translation/opus-mt", port=0) as server:
        assert ask(server.url, "/v1/models")["data"][0]["id"] == "opus-mt"
        assert repr(server) == f"heed.Server('http://127.0.0.1:{server.port}')"


def test_a_model_is_loaded_on_first_use(decoder_path):
    late = {"path": decoder_path, "random_weights": 7, "on_first_use": True}
    with heed.Server({"late": late}, port=0, threads=2) as server:
        assert "tasks" not in ask(server.url, "/v1/models")["data"][0]
        assert completion(server.url, "late")["choices"]


def test_adapters_are_models(tmp_path, decoder_path, decoder):
    adapter = {"path": make_adapter(tmp_path / "adapter"), "name": "poems"}
    adapted = heed.load(decoder_path, random_weights=7, adapters=[adapter])
    with heed.Server({"lm": adapted}, port=0) as server:
        assert completion(server.url, "lm")["choices"][0]["text"] == decoder.generate(TEXT, max_new_tokens=8).text
        assert completion(server.url, "poems")["choices"][0]["text"] == adapted.generate(TEXT, max_new_tokens=8).text


def test_models_are_replaced_while_it_runs(decoder, masked):
    with heed.Server({"lm": decoder}, port=0) as server:
        server.reload({"lm": decoder, "masked": masked})
        assert ask(server.url, "/v1/fill", {"model": "masked", "text": "the [MASK] sea"})
        with pytest.raises(heed.Error, match="'?missing"):
            server.reload({"lm": "missing/model/of/nobody"})
        assert completion(server.url, "lm")["choices"]
    with pytest.raises(heed.Error, match="has stopped"):
        server.reload({"lm": decoder})


def test_a_closed_model_is_an_error_and_one_that_is_served_goes_on(decoder_path):
    model = heed.load(decoder_path, random_weights=7)
    with heed.Server({"lm": model}, port=0) as server:
        model.close()
        assert completion(server.url, "lm")["choices"]
    with pytest.raises(heed.Error, match="closed"):
        heed.Server({"lm": model}, port=0)


def test_keys_are_asked_for(decoder):
    with heed.Server({"lm": decoder}, port=0, api_keys=["secret"]) as server:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(server.url, "/v1/models")
        assert ask(server.url, "/v1/models", headers={"Authorization": "Bearer secret"})["data"]


def test_a_port_in_use_is_an_error(server, decoder):
    with pytest.raises(heed.Error, match=f"port {server.port}"):
        heed.Server({"lm": decoder}, port=server.port)


class TestStop:
    def test_requests_are_completed(self, decoder):
        server = heed.Server({"lm": decoder}, port=0)
        texts = []
        asking = threading.Thread(
            target=lambda: texts.append(completion(server.url, "lm", max_tokens=2000)["choices"][0]["text"]))
        asking.start()
        while "heed_running_requests{model=\"lm\"} 1" not in self.metrics(server):
            time.sleep(0.01)
        assert server.stop()
        asking.join()
        assert texts == [decoder.generate(TEXT, max_new_tokens=2000).text]
        assert server.stop()
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", server.port), timeout=5)

    @staticmethod
    def metrics(server):
        with urllib.request.urlopen(server.url + "/metrics", timeout=30) as answer:
            return answer.read().decode()

    def test_it_ends_what_takes_too_long(self, decoder):
        server = heed.Server({"lm": decoder}, port=0)
        connection, answer = begin_long_completion(server)
        begin = time.monotonic()
        assert not server.stop(drain_seconds=0.3)
        assert time.monotonic() - begin < 5
        with pytest.raises((http.client.IncompleteRead, OSError)):
            answer.read()
        connection.close()

    def test_ctrl_c_ends_the_wait_for_requests(self, decoder):
        server = heed.Server({"lm": decoder}, port=0)
        connection, _ = begin_long_completion(server)
        sent = []

        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.3, interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            server.stop()
        assert time.monotonic() - sent[0] < 5
        assert server.wait(0)
        connection.close()

    def test_another_thread_ends_the_wait(self, decoder):
        with heed.Server({"lm": decoder}, port=0) as server:
            assert not server.wait(0.05)
            threading.Timer(0.1, server.stop).start()
            assert server.wait(20)


class TestLog:
    def test_each_request_is_logged(self, decoder):
        lines = []
        with heed.Server({"lm": decoder}, port=0, log=lines.append) as server:
            completion(server.url, "lm")
        line = json.loads(lines[0])
        assert line["route"] == "/v1/completions" and line["status"] == 200 and line["model"] == "lm"

    def test_an_exception_ends_the_wait_and_reaches_the_caller(self, decoder):
        def fail(line):
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"), heed.Server({"lm": decoder}, port=0, log=fail) as server:
            completion(server.url, "lm")
            assert server.wait(20)
            assert completion(server.url, "lm")  # it goes on until it is stopped
        assert server.stop()


def run_script(script, *arguments, **options):
    return subprocess.Popen([sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


SCRIPT = """
import sys, heed
model = heed.load(sys.argv[1], random_weights=7)
print(model.generate("the", max_new_tokens=1).text is not None, flush=True)
heed.serve({"lm": model}, port=int(sys.argv[2]))
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_health(url):
    for _ in range(400):
        try:
            return ask(url, "/health")
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(url)


def test_a_script_serves_until_ctrl_c_and_prints_nothing(decoder_path):
    port = free_port()
    script = run_script(SCRIPT, decoder_path, port)
    url = f"http://127.0.0.1:{port}"
    assert wait_for_health(url)["status"] == "ok"
    assert completion(url, "lm")["choices"]
    script.send_signal(signal.SIGINT)
    output, errors = script.communicate(timeout=30)
    assert script.returncode == -signal.SIGINT and output == "True\n"
    assert errors.rstrip().endswith("KeyboardInterrupt") and errors.count("Traceback") == 1


def test_a_script_that_ends_without_stop_ends(decoder_path):
    script = run_script("import sys, heed\nserver = heed.Server({'lm': sys.argv[1]}, port=0, log=[].append)\n"
                        "import urllib.request as r\nprint(r.urlopen(server.url + '/health').status)\n",
                        GOLDEN / "translation/opus-mt")
    output, errors = script.communicate(timeout=60)
    assert script.returncode == 0 and output == "200\n" and errors == ""


def test_a_server_that_is_dropped_ends(decoder):
    server = heed.Server({"lm": decoder}, port=0, log=lambda line: None)
    port = server.port
    del server
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_a_forked_child_does_not_serve_and_lets_go_of_the_port(tmp_path):
    model = heed.load(make_decoder(tmp_path / "decoder"), random_weights=7)
    server = heed.Server({"lm": model}, port=0)
    expected = model.generate(TEXT, max_new_tokens=8).text
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        fine = server.wait(0) and server.stop() and model.generate(TEXT, max_new_tokens=8).text == expected
        os.close(there)
        os.read(here, 1)
        os._exit(0 if fine else 1)
    os.close(here)
    assert completion(server.url, "lm")["choices"][0]["text"] == expected
    assert server.stop()
    with heed.Server({"lm": model}, port=server.port) as again:  # while the child runs
        assert completion(again.url, "lm")["choices"][0]["text"] == expected
    os.close(there)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("models, message", [
    (1, "models has the type int"), ({"lm": 1}, "'lm' has the type int"), ([], "models has the type list"),
    ({"lm": {"path": "x", "depth": 1}}, "unexpected keyword argument 'depth'"), ({1: "x"}, "name has the type int"),
    ({"lm": {"model": 3}}, "model has the type int"),
    ({"lm": {"path": "x", "on_progress": print}}, "unexpected keyword argument 'on_progress'"),
])
def test_models_that_are_none_are_type_errors(models, message):
    with pytest.raises(TypeError, match=message):
        heed.Server(models, port=0)


def test_wrong_options_are_errors(decoder):
    for wrong, error, message in (
            ({"port": 70_000}, heed.Error, "port"), ({"host": "nowhere"}, heed.Error, "nowhere"),
            ({"connections": 0}, heed.Error, "connections"), ({"idle_seconds": -1}, ValueError, "idle_seconds"),
            ({"api_keys": [""]}, heed.Error, "API key"), ({"log": 3}, TypeError, "log"),
            ({"drain_seconds": -1}, ValueError, "drain_seconds"), ({"drain_seconds": "1"}, TypeError, "drain_seconds"),
            ({"prot": 1}, TypeError, "'prot'")):
        with pytest.raises(error, match=message):
            heed.Server({"lm": decoder}, **{"port": 0, **wrong})
    with pytest.raises(heed.Error, match="no name"):
        heed.Server({"": decoder}, port=0)
