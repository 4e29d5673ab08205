#!/usr/bin/env python3
"""schemathesis and openapi-spec-validator on /openapi.json of heed serve with tiny models.

    tests/judges/serving/schema.py HEED FOLDER [SECONDS [PATH...]]

FOLDER keeps a virtual environment and the reports. Each route that takes a body is tried for SECONDS (default: 30),
first at the limits of each field and then at random; one whose limits take longer is tried for as long again, and fails
if it is not done then. Only the routes PATH are tried if there are any; a form with a file is not. All checks are on; schema_hooks.py says what
it changes in the requests.
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[2]
sys.path[:0] = [str(TREE / "bench"), str(TREE / "tests/serve")]
from fuzz_test import CHAT_TEMPLATE, CONFIG  # noqa: E402
from load.server import Server  # noqa: E402

GOLDEN = TREE / "tests/golden"
BERT = {"model_type": "bert", "vocab_size": 12, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 2, "max_position_embeddings": 4096, "hidden_act": "gelu"}
VOCABULARY = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nold\nsea\nship\nwent\nout\nin\n"
PACKAGES = ["schemathesis==4.32.5", "openapi-spec-validator==0.9.0"]
UNTRIED = {"/translate_file"}  # schemathesis calls each file "file", whose name must tell a format
START_SECONDS = 30  # of schemathesis, on a machine that has other work


def write(directory, config, **files):
    directory.mkdir(exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config))
    for name, text in files.items():
        (directory / name.replace("_dot_", ".")).write_text(text)


def write_ranges(path, width):
    """The numbers of embeddings in int8 and uint8: from -1 to 1 in each dimension."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (2, {width}), }}".ljust(117) + "\n"
    values = struct.pack(f"<{2 * width}f", *[-1.0] * width, *[1.0] * width)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values)
    return path


def models_in(folder):
    """Tiny models with random weights, of every kind."""
    write(folder / "chat", CONFIG | {"max_position_embeddings": 8192}, chat_template_dot_jinja=CHAT_TEMPLATE,
          tokenizer_config_dot_json='{"add_bos_token": false, "add_eos_token": false}')
    (folder / "chat/tokenizer.model").write_bytes((GOLDEN / "sentencepiece/bpe.model").read_bytes())
    for name, architecture in (("masked", "BertForMaskedLM"), ("encoder", "BertModel")):
        write(folder / name, BERT | {"architectures": [architecture]}, vocab_dot_txt=VOCABULARY)
    tokenizer = json.loads((GOLDEN / "tokenizers/gpt2.json").read_text())
    for i, role in enumerate(("prefix", "suffix", "middle")):
        tokenizer["added_tokens"].append(tokenizer["added_tokens"][0] | {"id": 900 + i, "content": f"<|fim_{role}|>"})
    write(folder / "coder", CONFIG | {"max_position_embeddings": 8192, "vocab_size": 904},
          tokenizer_dot_json=json.dumps(tokenizer))
    models = {name: {"path": str(folder / name), "random_weights": 1}
              for name in ("chat", "masked", "encoder", "coder")}
    models["encoder"]["embedding_ranges"] = str(write_ranges(folder / "ranges.npy", BERT["hidden_size"]))
    return models | {"reranker": GOLDEN / "encoders/rerank", "classifier": GOLDEN / "encoders/classify",
                     "nllb": GOLDEN / "translation/nllb"}


def tried(folder, url, path, seconds):
    """Whether schemathesis finds nothing wrong with the operations of a path."""
    report = folder / "reports" / (path.strip("/").replace("/", "_") or "page")
    command = [folder / "venv/bin/st", "run", folder / "openapi.json", "--url", url, "--include-path", path,
               "--checks", "all", "--max-time", str(seconds), "--continue-on-failure", "--no-color", "--report", "json",
               "--report-dir", report, "--generation-database", "none"]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": "schema_hooks", "PYTHONPATH": str(HERE),
                                "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True,
                              timeout=2 * seconds + START_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"{path}: not done after {2 * seconds} s", flush=True)
        return False
    generated = re.search(r"([\d,]+) generated", done.stdout)
    passed = done.returncode == 0 and generated is not None
    print(f"{path}: {generated[1] if generated else 0} requests, {'passed' if passed else 'failed'}", flush=True)
    if not passed:
        print(done.stdout, done.stderr, flush=True)
    return passed


def main():
    heed, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    python = folder / "venv/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    with Server(heed, models_in(folder), 2) as server:
        url = f"http://127.0.0.1:{server.port}"
        schema = folder / "openapi.json"
        with urllib.request.urlopen(f"{url}/openapi.json") as file:
            schema.write_bytes(file.read())
        failed = [] if subprocess.run([python, "-m", "openapi_spec_validator", schema]).returncode == 0 else [schema]
        for path, operations in json.loads(schema.read_text())["paths"].items():
            takes_body = any("requestBody" in one for one in operations.values())
            own_seconds = seconds if takes_body else min(seconds, 10)
            if path in UNTRIED:
                continue
            if path in (sys.argv[4:] or [path]) and not tried(folder, url, path, own_seconds):
                failed.append(path)
    print("failed:", *failed or ["none"])
    raise SystemExit(bool(failed) or server.status != 0)


if __name__ == "__main__":
    main()
