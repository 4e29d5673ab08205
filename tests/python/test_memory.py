"""Processes that use one model share its memory: weights that are read in place, through the file; packed ones, through
a weight cache or after a fork."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy
import pytest
from conftest import make_decoder

import heed

HIDDEN, LAYERS = 1024, 24  # 500 MB in bf16
PROCESSES = 4
TOKENS = list(range(3, 12))


@pytest.fixture(scope="module")
def large_path(tmp_path_factory):
    """A Llama with weights in bf16."""
    path = make_decoder(tmp_path_factory.mktemp("memory") / "decoder", hidden=HIDDEN, layers=LAYERS)
    attention, feed_forward = (HIDDEN, HIDDEN), (2 * HIDDEN, HIDDEN)
    shapes = {"model.embed_tokens.weight": (120, HIDDEN), "model.norm.weight": (HIDDEN,), "lm_head.weight": (120, HIDDEN)}
    for layer in range(LAYERS):
        for name, shape in (("self_attn.q_proj", attention), ("self_attn.k_proj", attention),
                            ("self_attn.v_proj", attention), ("self_attn.o_proj", attention),
                            ("mlp.gate_proj", feed_forward), ("mlp.up_proj", feed_forward),
                            ("mlp.down_proj", feed_forward[::-1]), ("input_layernorm", (HIDDEN,)),
                            ("post_attention_layernorm", (HIDDEN,))):
            shapes[f"model.layers.{layer}.{name}.weight"] = shape
    header, size = {}, 0
    for name, shape in shapes.items():
        end = size + 2 * int(numpy.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [size, end]}
        size = end
    values = numpy.random.default_rng(1).standard_normal(1 << 20, dtype=numpy.float32) * 0.02
    bits = (values.view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()
    head = json.dumps(header).encode()
    with open(path / "model.safetensors", "wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for begin in range(0, size, len(bits)):
            file.write(bits[: size - begin])
    yield path
    shutil.rmtree(path)


def pss(process):
    """Proportional set size in MB: pages that n processes share count 1/n for each."""
    with open(f"/proc/{process}/smaps_rollup") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("Pss:"))


CHILD = """
import json, sys, heed
model = heed.load(sys.argv[1], **json.loads(sys.argv[2]))
model.generate([int(token) for token in sys.argv[3:]], max_new_tokens=4)
print("ready", flush=True)
sys.stdin.read()
"""


def pss_of_processes(count, path, **options):
    """PSS of independent processes that have generated from one model, in MB."""
    processes = [subprocess.Popen([sys.executable, "-c", CHILD, path, json.dumps(options), *map(str, TOKENS)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(count)]
    for process in processes:
        assert process.stdout.readline() == b"ready\n"
    total = sum(pss(process.pid) for process in processes)
    for process in processes:
        process.communicate()
    return total


def test_processes_share_weights_that_are_read_in_place(large_path):
    one, all_of_them = (pss_of_processes(count, large_path) for count in (1, PROCESSES))
    assert one > 450 and all_of_them <= 1.15 * one, (one, all_of_them)


@pytest.mark.parametrize("weights", ["q8_0", "q4_0"])
def test_processes_share_packed_weights_through_a_weight_cache(large_path, tmp_path, weights):
    own = 25  # MB of a process: Python, libraries' data, activations
    options = {"weights": weights, "weight_cache": str(tmp_path)}
    one, all_of_them = (pss_of_processes(count, large_path, **options) for count in (1, PROCESSES))
    assert one > 120 and all_of_them <= one + (PROCESSES - 1) * own, (one, all_of_them)


def fork_and(work):
    """A fork that has done its work, and waits to be killed."""
    said, say = os.pipe()
    child = os.fork()
    if child == 0:
        work()
        os.write(say, b"ready")
        time.sleep(60)
        os._exit(0)
    assert os.read(said, 5) == b"ready"
    return child


@pytest.mark.parametrize("weights", [None, "q8_0", "q4_0"])
def test_forks_share_packed_weights(large_path, weights):
    """Measured in a process that has nothing but the model."""
    script = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import heed
from test_memory import *
model = heed.load(sys.argv[1], weights={weights!r})
def generate():
    return model.generate(TOKENS, max_new_tokens=4)
generate()
one = pss(os.getpid())
forks = [fork_and(generate) for _ in range(PROCESSES - 1)]
print(one, sum(map(pss, [os.getpid(), *forks])))
for fork in forks:
    os.kill(fork, signal.SIGKILL)
"""
    output = subprocess.run([sys.executable, "-c", script, large_path], capture_output=True, text=True, check=True).stdout
    one, all_of_them = map(float, output.split())
    assert one > 120 and all_of_them <= 1.15 * one, (one, all_of_them)
