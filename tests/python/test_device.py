"""Models on a simulated GPU: what they say is what they say on the CPU. In a process of its own: it has one driver."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

DRIVER = os.environ.get("HEED_SIMULATED_DRIVER")
EMBEDDER = pathlib.Path(__file__).resolve().parent.parent / "golden/encoders/embed-bert"
pytestmark = pytest.mark.skipif(not DRIVER, reason="HEED_SIMULATED_DRIVER does not name the driver of a simulated GPU")
SCRIPT = """
import json, sys, heed
decoder, encoder = sys.argv[1:3]
results = {}
for device in "cpu", "gpu":
    generator = heed.load(decoder, random_weights=7, device=device)
    results[device] = {
        "gpu": generator.gpu,
        "text": generator.generate("the sea", max_new_tokens=8).text,
        "vector": [float(x) for x in heed.load(encoder, device=device).embed("the old sea")],
    }
results["bf16"] = [float(x) for x in heed.load(encoder, device="gpu", compute="bf16").embed("the old sea")]
try:
    heed.load(decoder, random_weights=7, device="gpu:3")
except heed.Error as error:
    results["error"] = str(error)
print(json.dumps(results))
"""


def test_models_on_a_gpu(decoder_path):
    environment = {**os.environ, "HEED_CUDA_DRIVER": DRIVER, "HEED_SIMULATED_GPU": "memory=256"}
    done = subprocess.run([sys.executable, "-W", "error", "-c", SCRIPT, str(decoder_path), str(EMBEDDER)],
                          env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["cpu"]["gpu"], found["gpu"]["gpu"]) == ("", "GPU 0 (simulated GPU)")
    assert found["gpu"]["text"] == found["cpu"]["text"]
    assert found["gpu"]["vector"] == pytest.approx(found["cpu"]["vector"], abs=1e-4)
    assert found["bf16"] == pytest.approx(found["cpu"]["vector"], abs=0.05)
    assert found["error"] == 'device is "gpu:3", and this machine has 1 GPUs, numbered from 0'
