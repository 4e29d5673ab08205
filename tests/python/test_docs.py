"""The examples of docs/python.md run, with small models in place of those that they name, and mypy --strict accepts
them."""

import asyncio
import importlib.metadata
import importlib.util
import inspect
import pathlib
import pydoc
import re
import shutil
import subprocess
import sys

import pytest
from conftest import GOLDEN, make_adapter, make_decoder, make_decoder_of_bytes, make_encoder, make_training_text

import heed
import heed.sklearn

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
    (tmp_path / "article.html").write_text("<p>the <b>sea</b></p>")
    shutil.copy(GOLDEN / "encoders/classify/tokenizer.json", tmp_path)


def test_the_examples_run(stand_ins, capsys):
    names = {}
    for example in EXAMPLES:
        exec(compile(example, str(DOCUMENT), "exec"), names)
    assert len(EXAMPLES) > 8 and capsys.readouterr().out
    assert pathlib.Path("page.html").read_text().startswith("<!doctype html>")


# What the page says beside its examples.


def test_bars_are_drawn_without_tqdm(monkeypatch, encoder, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as if it were not installed
    encoder.embed(["the sea"] * 600, progress=True)
    assert capsys.readouterr().err.endswith("\r600/600\n")


def test_options_are_listed_and_help_has_them():
    assert "temperature" in heed.options.GenerateOptions.__annotations__
    for function, table in ((heed.Model.generate, "GenerateOptions"), (heed.Model.chat, "ChatOptions"),
                            (heed.Model.embed, "EmbedOptions"), (heed.load, "LoadOptions"),
                            (heed.Session.add, "RequestOptions"), (heed.Server.__init__, "ServerOptions")):
        parameters = inspect.signature(function).parameters
        missing = set(getattr(heed.options, table).__annotations__) - set(parameters)
        assert not missing and not any(one.kind == one.VAR_KEYWORD for one in parameters.values()), (function, missing)
        for option in parameters if function.__doc__ else ():
            own = option in inspect.unwrap(function).__code__.co_varnames
            assert own or f"\n    {option}" in function.__doc__, (function, option)
    assert "**options" not in pydoc.plain(pydoc.render_doc(heed.Model.generate))
    assert "parallel_tool_calls: whether an answer may have several calls [True]" in heed.Model.chat.__doc__


def public_functions():
    """The functions of the package and of its classes that are written in Python, by their names."""
    for owner in (heed, heed.sklearn.Embedder, *(getattr(heed, name) for name in heed.__all__)):
        if not inspect.isclass(owner) and owner is not heed:
            continue
        for name in heed.__all__ if owner is heed else dir(owner):
            function = getattr(owner, name)
            if inspect.isroutine(function) and inspect.isfunction(getattr(function, "__func__", function)) \
                    and (name == "__init__" or not name.startswith("_")):
                yield f"{owner.__name__}.{name}", function


def test_no_signature_hides_its_arguments():
    allowed = {"Embedder.set_params"}  # as all of scikit-learn's: the parameters of any estimator
    functions = dict(public_functions())
    assert len(functions) > 100
    for name, function in functions.items():
        kinds = {one.kind for one in inspect.signature(function).parameters.values()}
        assert inspect.Parameter.VAR_POSITIONAL not in kinds, name
        assert (inspect.Parameter.VAR_KEYWORD in kinds) == (name in allowed), name


def test_signatures_have_the_names_and_defaults_of_what_they_call():
    for owner, names in ((heed, ("train", "quantize", "convert", "distill", "make_shortlist", "load")),
                         (heed.Model, ("encode", "generate", "chat", "translate", "calibrate_confidence"))):
        for name in names:
            one, other = (inspect.signature(getattr(owner, prefix + name)) for prefix in ("a", ""))
            assert list(one.parameters.values()) == list(other.parameters.values()), name
    encode = inspect.signature(heed.Model.encode)
    assert inspect.signature(heed.Model.encode_query) == inspect.signature(heed.Model.aencode_document) == encode
    assert encode.parameters["batch_size"].default == 32
    assert set(encode.parameters) - {"self", "sentences"} == set(heed.options.EncodeOptions.__annotations__)
    assert "tools" in inspect.signature(heed.Model.achat).parameters
    assert "async atrain(config: 'Path | None' = None, *, out: 'Path' = 'model'" in pydoc.plain(
        pydoc.render_doc(heed.atrain))
    if heed.Model.aencode.__doc__:
        assert "`prompt` stands before each text" in heed.Model.aencode.__doc__
        assert "the functions that may be called" in heed.Model.count_tokens.__doc__


def test_each_function_that_computes_has_one_for_asyncio():
    for owner, names in ((heed, ("load", "train", "quantize", "convert", "distill", "make_shortlist")),
                         (heed.Model, ("generate", "search", "chat", "translate", "embed", "encode", "logits", "score",
                                       "score_pair", "fill", "classify", "rerank", "label_tokens", "attention",
                                       "calibrate_confidence", "evaluate_confidence"))):
        for name in names:
            assert callable(getattr(owner, name)) and callable(getattr(owner, "a" + name)), name


def test_functions_of_the_module_for_asyncio_run(tmp_path):
    async def main():
        model = await heed.aload(make_encoder(tmp_path / "encoder", masked=False), random_weights=1)
        vector = await model.aencode("the sea")
        with pytest.raises(heed.Error, match="absent"):
            await heed.aconvert("absent.gguf", tmp_path / "out.gguf")
        with pytest.raises(heed.Error, match="absent"):
            await heed.aquantize("absent.gguf", tmp_path / "out.gguf")
        with pytest.raises(heed.Error, match="source"):
            await heed.atrain(out=tmp_path / "run", preset="tiny")
        return vector.shape

    assert asyncio.run(main()) == (64,)


def test_the_module_is_installed_with_licences():
    files = {path.name for path in importlib.metadata.files("heed") if path.parent.name == "licenses"}
    assert {"LICENSE", "LICENSE-nanobind"} <= files
    assert importlib.metadata.version("heed") == heed.__version__


def test_the_version_and_the_module_as_a_program(decoder_path):
    run = lambda *arguments: subprocess.run([sys.executable, "-m", "heed", *arguments], capture_output=True, text=True)
    assert run("--version").stdout == f"heed {heed.__version__}\n"
    assert "COMMAND" in run().stdout and "heed: a Transformer engine." in run().stdout
    refused = run("generate", str(decoder_path), "the sea")
    assert refused.returncode == 1 and refused.stderr.startswith("heed: error: ") and "model.safetensors" in refused.stderr


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
@pytest.mark.timeout(300)
def test_type_checkers_accept_the_examples_and_the_package(tmp_path):
    # What works at run time, too.
    more = """
import numpy
for stream in (True, False):
    print(model.generate("Once", stream=stream), model.chat(messages, stream=stream))
print(model.generate(numpy.array([1, 2])).to_dict(), output == output)
"""
    (tmp_path / "examples.py").write_text("\n".join([*EXAMPLES, more]))
    shutil.copytree(pathlib.Path(heed.__file__).parent, tmp_path / "heed")
    found = subprocess.run([sys.executable, "-m", "mypy", "--strict", "examples.py", "heed"],
                           capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 0, found.stdout
