#!/usr/bin/env python3
"""device_test.py HEED DRIVER: heed serve with models on a simulated GPU, whose driver is DRIVER: what is said of the
GPU, and what happens when it is lost, full or of no use."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HEED, DRIVER = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
# Never ends by itself, since it has no end-of-sequence token.
CONFIG = {
    "model_type": "llama", "vocab_size": 120, "hidden_size": 128, "intermediate_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 2, "max_position_embeddings": 1 << 20, "rms_norm_eps": 1e-5, "hidden_act": "silu",
    "bos_token_id": 1, "eos_token_id": None,
}
GPU = "GPU 0 (simulated GPU)"
LOST = f"{GPU} was lost while copying from it: an illegal memory access was encountered " \
       "(CUDA_ERROR_ILLEGAL_ADDRESS); only a new process can use it again"


def configuration(**devices):
    """The models of the keywords, each on its device."""
    return "".join(f'[[model]]\nname = "{name}"\npath = "decoder"\nrandom_weights = 1\ndevice = "{device}"\n'
                   for name, device in devices.items())


def make_decoder(directory):
    directory.mkdir()
    (directory / "tokenizer.model").write_bytes((GOLDEN / "sentencepiece/bpe.model").read_bytes())
    (directory / "tokenizer_config.json").write_text('{"add_bos_token": false, "add_eos_token": false}')
    (directory / "config.json").write_text(json.dumps(CONFIG))


def environment(gpu):
    return {**os.environ, "HF_HUB_OFFLINE": "1", "HEED_CUDA_DRIVER": str(DRIVER), "HEED_SIMULATED_GPU": gpu}


class Server:
    def __init__(self, directory, gpu):
        self.log_file = directory / "log"
        self.process = subprocess.Popen(
            [HEED, "serve", "--config", "serve.toml", "--port", "0"], cwd=directory, env=environment(gpu),
            stdout=open(self.log_file, "w"), stderr=subprocess.PIPE, text=True)
        line = self.said()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line
        self.port = int(found.group(1))

    def said(self):
        return self.process.stderr.readline().strip()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, json.dumps(body) if body is not None else None)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def complete(self, model, tokens, prompt="the sea"):
        """The status, and the text or the message of the error."""
        status, body = self.ask("POST", "/v1/completions", {"model": model, "prompt": prompt, "max_tokens": tokens})
        answer = json.loads(body)
        return status, answer["choices"][0]["text"] if status == 200 else answer["error"]["message"]

    def devices(self):
        return {one["id"]: one["device"] for one in json.loads(self.ask("GET", "/v1/models")[1])["data"]}

    def log(self):
        return [json.loads(line) for line in self.log_file.read_text().splitlines()]

    def wait_for_log(self, has):
        """A request's line is written after its answer."""
        for _ in range(100):
            if has(self.log()):
                return
            time.sleep(0.05)
        raise AssertionError(self.log())

    def reload(self):
        """Returns what the server says."""
        self.process.send_signal(signal.SIGHUP)
        return self.said()


@contextlib.contextmanager
def served(directory, models, gpu):
    (directory / "serve.toml").write_text(models)
    server = Server(directory, gpu)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()


def says_where_models_compute(directory):
    with served(directory, configuration(a="gpu", b="cpu"), "memory=64") as server:
        assert server.devices() == {"a": GPU, "b": "cpu"}, server.devices()
        lines = [line for line in server.log() if "device" in line]
        assert [(line["model"], line["device"]) for line in lines] == [("a", GPU)], lines
        assert server.complete("a", 8) == server.complete("b", 8)
        metrics = server.ask("GET", "/metrics")[1]
        found = dict(re.findall(r'^heed_gpu_(\w+)_bytes\{gpu="GPU 0 \(simulated GPU\)"\} (\S+)$', metrics, re.M))
        assert found.keys() == {"allocated", "free"}, metrics
        assert 0 < float(found["allocated"]) < 64 << 20 and 0 < float(found["free"]) < 64 << 20, found


def goes_on_with_the_others_when_a_gpu_is_lost(directory):
    with served(directory, configuration(a="gpu", b="cpu"), "memory=64,fail=cuMemcpyDtoHAsync:700:12") as server:
        expected = server.complete("b", 4)
        assert server.complete("a", 4) == expected
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda _: server.complete("a", 50), range(3)))
        assert answers == [(503, LOST)] * 3, answers
        assert server.complete("a", 4) == (503, LOST)
        status, body = server.ask("POST", "/v1/score", {"model": "a", "text": "the sea"})
        assert status == 503 and LOST in body, body
        assert server.complete("b", 4) == expected
        # In this process there is no other GPU to load it onto.
        said = server.reload()
        assert said == f'heed: the configuration was not reloaded: model "a": {LOST}', said
        assert server.complete("a", 4) == (503, LOST) and server.complete("b", 4) == expected
        server.wait_for_log(lambda lines: lines[-1].get("status") == 200)
        assert server.process.poll() is None


def loads_a_lost_model_elsewhere_when_asked_to(directory):
    with served(directory, configuration(a="auto", b="cpu"), "memory=256,fail=cuMemcpyDtoHAsync:214:3") as server:
        assert server.devices()["a"] == GPU
        status, message = server.complete("a", 20)
        assert status == 503 and "CUDA_ERROR_ECC_UNCORRECTABLE" in message, message
        assert server.reload() == "heed: serving 2 models"
        assert server.devices()["a"] == "cpu" and server.complete("a", 4) == server.complete("b", 4)


def a_request_that_is_too_large_for_the_gpu_fails_alone(directory):
    with served(directory, configuration(a="gpu"), "memory=3") as server:
        expected = server.complete("a", 4)
        assert expected[0] == 200
        status, message = server.complete("a", 4, prompt="the sea " * 2000)
        assert status == 503 and re.fullmatch(
            rf"out of memory on {re.escape(GPU)}: [\d,]+ bytes could not be allocated, [\d,]+ are in use and [\d,]+ "
            r"free: fewer tokens at a time or quantised weights \(q8_0\) need less", message), message
        assert server.complete("a", 4) == expected


def refuses_to_start_on_a_gpu_that_is_of_no_use(directory):
    def error(gpu):
        (directory / "serve.toml").write_text(configuration(b="cpu", a="gpu"))
        done = subprocess.run([HEED, "serve", "--config", "serve.toml", "--dry-run"], cwd=directory, text=True,
                              capture_output=True, timeout=60, env=environment(gpu))
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done
        begin = 'heed: error: model "a": '
        assert done.stderr.startswith(begin), done.stderr
        return done.stderr[len(begin):].strip()
    assert error("capability=75") == f"{GPU} has compute capability 7.5, heed needs 8.0 (Ampere) or later"
    assert "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" in error("fail=cuInit:803")
    found = error("fail=cuModuleLoadData:209")
    assert "none of heed's kernels run on" in found or "nvcc was missing" in found, found
    assert error("devices=0") == 'device is "gpu", and the driver finds no GPU'
    found = error("memory=0")
    assert re.fullmatch(rf"the model's weights take [\d,]+ bytes, and 0 are free on {re.escape(GPU)}: "
                        "load it on the CPU", found), found


def main():
    tests = [says_where_models_compute, goes_on_with_the_others_when_a_gpu_is_lost,
             loads_a_lost_model_elsewhere_when_asked_to, a_request_that_is_too_large_for_the_gpu_fails_alone,
             refuses_to_start_on_a_gpu_that_is_of_no_use]
    for test in tests:
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            make_decoder(directory / "decoder")
            begin = time.monotonic()
            test(directory)
            print(f"{test.__name__}: passed ({time.monotonic() - begin:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
