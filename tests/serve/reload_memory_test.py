#!/usr/bin/env python3
"""reload_memory_test.py HEED [RELOADS]: memory of models that are not served any more goes back to the system. After
30 reloads, each with another setting, and after evictions for model_memory, a server has about the memory of its start.
"""
import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HEED = pathlib.Path(sys.argv[1]).resolve()
RELOADS = int(sys.argv[2]) if len(sys.argv) > 2 else 30
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
# Weights of 60 MB, in which a leak shows.
CONFIG = {
    "model_type": "llama", "vocab_size": 120, "hidden_size": 512, "intermediate_size": 1536, "num_hidden_layers": 4,
    "num_attention_heads": 8, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "hidden_act": "silu",
    "bos_token_id": 1, "eos_token_id": None,
}
MODEL = '[[model]]\nname = "{}"\npath = "decoder"\nrandom_weights = 1\nmax_cached_tokens = {}\n'


class Server:
    def __init__(self, directory, config):
        self.file = directory / "serve.toml"
        self.file.write_text(config)
        self.process = subprocess.Popen(
            [HEED, "serve", "--config", "serve.toml", "--port", "0", "--quiet"], cwd=directory, stderr=subprocess.PIPE,
            text=True)
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line
        self.port = int(found.group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, json.dumps(body) if body else None)
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, text
        return text

    def generate(self, model):
        self.ask("POST", "/v1/completions", {"model": model, "prompt": "the sea " * 20, "max_tokens": 8})

    def reload(self, config):
        self.file.write_text(config)
        self.process.send_signal(signal.SIGHUP)
        line = self.process.stderr.readline()
        assert "serving 1 models" in line, line

    def memory(self):
        """Resident bytes as /metrics has them, which is what the system says."""
        metric = float(re.search(r"^process_resident_memory_bytes (\S+)$", self.ask("GET", "/metrics"), re.M).group(1))
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        system = 1024 * int(re.search(r"VmRSS:\s+(\d+)", status).group(1))
        assert abs(metric - system) < 0.1 * system, (metric, system)
        return system

    def memory_below(self, limit):
        """The last model is freed after its last request."""
        for _ in range(100):
            if self.memory() <= limit:
                break
            time.sleep(0.05)
        return self.memory()


def reloads(directory):
    with Server(directory, MODEL.format("a", 1000)) as server:
        server.generate("a")
        start = server.memory()
        for i in range(RELOADS):
            server.reload(MODEL.format("a", 1001 + i))
            server.generate("a")
        end = server.memory_below(1.1 * start)
        print(f"{RELOADS} reloads: {start / 1e6:.1f} MB at the start, {end / 1e6:.1f} MB at the end")
        assert end <= 1.1 * start, (start, end)


def evictions(directory):
    """Each of three models that are loaded on first use leaves room for one alone."""
    models = "".join(MODEL.format(name, 1000) + "on_first_use = true\n" for name in "abc")
    size = sum(file.stat().st_size for file in (directory / "decoder").glob("*.safetensors"))
    assert size, "the models have no files whose bytes model_memory counts"
    with Server(directory, f"[limits]\nmodel_memory = \"{size * 3 // 2}\"\n" +
                models.replace("random_weights = 1\n", "")) as server:
        server.generate("a")
        start = server.memory()
        for _ in range(4):
            for name in "bca":
                server.generate(name)
        end = server.memory_below(1.1 * start)
        print(f"12 evictions: {start / 1e6:.1f} MB at the start, {end / 1e6:.1f} MB at the end")
        assert end <= 1.1 * start, (start, end)
        unloads = sum(float(count) for count in re.findall(r"^heed_model_unloads_total\S* (\S+)$",
                                                           server.ask("GET", "/metrics"), re.M))
        assert unloads == 12, unloads


def write_weights(directory):
    """A safetensors file of small numbers, all of them alike."""
    h, f, v = CONFIG["hidden_size"], CONFIG["intermediate_size"], CONFIG["vocab_size"]
    shapes = {"model.embed_tokens.weight": [v, h], "model.norm.weight": [h], "lm_head.weight": [v, h]}
    for i in range(CONFIG["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        for name in "qkvo":
            shapes[f"{layer}self_attn.{name}_proj.weight"] = [h, h]
        shapes |= {f"{layer}mlp.gate_proj.weight": [f, h], f"{layer}mlp.up_proj.weight": [f, h],
                   f"{layer}mlp.down_proj.weight": [h, f], f"{layer}input_layernorm.weight": [h],
                   f"{layer}post_attention_layernorm.weight": [h]}
    header, offset = {}, 0
    for name, shape in shapes.items():
        size = 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    with open(directory / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.write(b"\x0a\xd7\x23\x3c" * (offset // 4))  # 0.01


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        model = directory / "decoder"
        model.mkdir()
        (model / "tokenizer.model").write_bytes((GOLDEN / "sentencepiece/bpe.model").read_bytes())
        (model / "tokenizer_config.json").write_text('{"add_bos_token": false, "add_eos_token": false}')
        (model / "config.json").write_text(json.dumps(CONFIG))
        reloads(directory)
        write_weights(model)
        evictions(directory)


if __name__ == "__main__":
    main()
