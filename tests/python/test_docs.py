"""The examples of docs/python.md run, with small models in place of those that they name, and mypy --strict accepts
them."""

import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import GOLDEN, make_adapter, make_decoder, make_decoder_of_bytes, make_encoder, make_training_text

import heed

DOCUMENT = GOLDEN.parent.parent / "docs/python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    """load() opens a small model of the kind that an example names."""
    decoder = make_decoder(tmp_path / "models/decoder")
    paths = {
        "SmolLM2-135M.gguf": make_decoder_of_bytes(tmp_path / "models/bytes"),
        "base": decoder,
        "model": GOLDEN / "translation/opus-mt",
        "bert-base-uncased": make_encoder(tmp_path / "models/masked"),
        "all-MiniLM-L6-v2": make_encoder(tmp_path / "models/encoder", masked=False),
        "classifier": GOLDEN / "encoders/classify",
        "cross-encoder": GOLDEN / "encoders/rerank",
        "ner": GOLDEN / "encoders/ner",
    }
    adapter = make_adapter(tmp_path / "models/adapter")
    load = heed.load

    def stand_in(name, **options):
        if "adapters" in options:
            options["adapters"] = [{**options["adapters"][0], "path": adapter}]
        random_weights = None if GOLDEN in paths[name].parents else 1
        return load(paths[name], random_weights=random_weights, **options)

    convert = heed.convert
    monkeypatch.setattr(heed, "convert", lambda name, *arguments: convert(paths[name], *arguments))
    monkeypatch.setattr(heed, "load", stand_in)
    monkeypatch.setattr("heed.sklearn.load", stand_in)
    monkeypatch.chdir(tmp_path)
    make_training_text(tmp_path)
    shutil.copy(GOLDEN / "encoders/classify/tokenizer.json", tmp_path)


def test_the_examples_run(stand_ins, capsys):
    names = {}
    for example in EXAMPLES:
        exec(compile(example, str(DOCUMENT), "exec"), names)
    assert len(EXAMPLES) > 8 and capsys.readouterr().out
    assert pathlib.Path("page.html").read_text().startswith("<!doctype html>")


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
@pytest.mark.timeout(300)
def test_type_checkers_accept_the_examples_and_the_package(tmp_path):
    (tmp_path / "examples.py").write_text("\n".join(EXAMPLES))
    shutil.copytree(pathlib.Path(heed.__file__).parent, tmp_path / "heed")
    found = subprocess.run([sys.executable, "-m", "mypy", "--strict", "examples.py", "heed"],
                           capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 0, found.stdout
