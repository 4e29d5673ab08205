"""Whatever is passed to the functions and classes beside Model, only heed.Error, TypeError and ValueError come out."""

import inspect

import pytest
from conftest import GOLDEN, make_training_text
from hypothesis import given, settings
from hypothesis import strategies as st
from test_arguments import TEXT, call, quick, values

import heed
from heed import options
from heed.sklearn import Embedder

SERVED = options.ServedModel.__annotations__
SERVER = [name for name in options.ServerOptions.__annotations__ if name not in ("port", "threads")]


@pytest.fixture(scope="module")
def tokenizer():
    return heed.Tokenizer(GOLDEN / "encoders/classify/tokenizer.json")


@pytest.mark.parametrize("name", ["encode", "decode", "token", "token_id"])
@quick
@given(data=st.data())
def test_any_arguments_of_a_tokenizer(tokenizer, name, data):
    arguments = data.draw(st.lists(values, min_size=1, max_size=2))
    keywords = data.draw(st.dictionaries(st.sampled_from(["special", "max_tokens", "pair"]), values, max_size=2))
    call(getattr(tokenizer, name), *arguments, **keywords)
    assert tokenizer.encode(TEXT).ids


@quick
@given(path=values, texts=values, data=st.data())
def test_any_tokenizer(path, texts, data):
    call(heed.Tokenizer, path)
    names = [name for name in inspect.signature(heed.Tokenizer.train).parameters if name != "texts"]
    call(heed.Tokenizer.train, texts, **data.draw(st.dictionaries(st.sampled_from(names), values, max_size=2)))


def test_the_options_are_those_of_the_server():
    """Those that are listed for type checkers, each of which the extension knows."""
    for name in options.ServerOptions.__annotations__:
        with pytest.raises((TypeError, ValueError), match=name):
            heed.Server({}, **{"port": 0, name: object()})
    for name in SERVED:
        with pytest.raises((TypeError, ValueError), match=name):
            heed.Server({"lm": {name: object()}}, port=0)


@quick
@given(data=st.data())
def test_any_options_of_a_server(decoder, data):
    models = data.draw(st.one_of(
        values, st.just({}), st.just(decoder), st.dictionaries(st.text(max_size=3), values, max_size=2),
        st.dictionaries(st.text(max_size=3), st.dictionaries(st.sampled_from(sorted(SERVED)), values, max_size=2))))
    given_options = data.draw(st.dictionaries(st.sampled_from([*SERVER, "log", "drain_seconds", "depth"]), values))
    server = call(heed.Server, models, port=0, **given_options)
    if server is not None:
        call(server.reload, data.draw(values))
        call(server.wait, 0)
        call(server.stop, data.draw(values))
        server.stop(0)


@settings(quick, max_examples=25)
@given(data=st.data())
def test_any_options_of_a_run(tmp_path_factory, data):
    directory = tmp_path_factory.mktemp("run")
    make_training_text(directory)
    names = ["preset", "settings", "resume", "on_step", "on_validation", "on_log", "hub"]
    given_options = data.draw(st.dictionaries(st.sampled_from(names), values, min_size=1, max_size=2))
    own_settings = {"data.source": directory / "train.en", "data.target": directory / "train.es", "run.max_steps": 1,
                    **data.draw(st.dictionaries(st.sampled_from(["run.seed", "run.token_budget", "data.source"]), values))}
    call(heed.train, directory / "config.toml", out=directory / "out", **{"settings": own_settings, **given_options})


@quick
@given(source=values, target=values, data=st.data())
def test_any_options_of_quantising(tmp_path_factory, monkeypatch, source, target, data):
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))  # where a text is a path
    out = tmp_path_factory.mktemp("quantise") / "out"
    names = ["weights", "calibration", "held_out", "hub"]
    call(heed.quantize, source, out)
    call(heed.quantize, GOLDEN / "encoders/classify", target)
    call(heed.quantize, GOLDEN / "encoders/classify", out,
         **data.draw(st.dictionaries(st.sampled_from(names), values, min_size=1, max_size=2)))


@quick
@given(source=values, target=values, data=st.data())
def test_any_options_of_converting(tmp_path_factory, monkeypatch, source, target, data):
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))
    out = tmp_path_factory.mktemp("convert") / "out.gguf"
    call(heed.convert, source, out)
    call(heed.convert, GOLDEN / "encoders/classify", target)
    call(heed.convert, GOLDEN / "encoders/classify", out,
         **data.draw(st.dictionaries(st.sampled_from(["weights", "adapters", "hub"]), values, max_size=2)))


@quick
@given(model=values, file=values, data=st.data())
def test_any_options_of_a_shortlist(tmp_path_factory, monkeypatch, model, file, data):
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))
    directory = tmp_path_factory.mktemp("shortlist")
    make_training_text(directory)
    texts = {"source": directory / "train.en", "target": directory / "train.es"}
    call(heed.make_shortlist, model, file, **texts)
    names = ["source", "target", "alignments", "best", "frequent", "hub"]
    call(heed.make_shortlist, GOLDEN / "translation/opus-mt", directory / "lex.s2t",
         **{**texts, **data.draw(st.dictionaries(st.sampled_from(names), values, max_size=2))})


@quick
@given(teacher=values, text=values, out=values, data=st.data())
def test_any_options_of_a_distillation(tmp_path_factory, monkeypatch, teacher, text, out, data):
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))
    call(heed.distill, teacher, text, out)
    names = ["test_source", "num_beams", "compute", "drop", "max_ratio", "minutes", "settings", "int8_settings", "resume",
             "on_log", "hub"]
    call(heed.distill, GOLDEN / "encoders/classify", GOLDEN / "encoders/classify/config.json",
         tmp_path_factory.mktemp("distill"),
         **data.draw(st.dictionaries(st.sampled_from(names), values, min_size=1, max_size=2)))


@quick
@given(data=st.data())
def test_any_parameters_of_an_embedder(encoder, data):
    model = data.draw(st.one_of(values, st.just(encoder)))
    embedder = Embedder(model, *data.draw(st.lists(values, max_size=3)))
    call(embedder.fit_transform, data.draw(st.one_of(values, st.just([TEXT]))))
    call(embedder.set_params, **data.draw(st.dictionaries(st.sampled_from(["model", "pooling", "depth"]), values)))


@quick
@given(data=st.data())
def test_any_text_and_languages_of_detect_language(data):
    text = data.draw(st.one_of(values, st.just(TEXT)))
    call(heed.detect_language, text, **data.draw(st.dictionaries(st.sampled_from(["languages"]), values)))


def test_every_name_of_the_package_is_tried_here_or_there():
    """A new class or function has to be added to a test of its arguments."""
    tried = {"Model", "load", "Session", "Tokenizer", "train", "quantize", "convert", "Server", "Attention",
             "AttentionMap", "detect_language", "distill", "make_shortlist"}
    streams = {"ChatStream", "TextStream"}  # made by Model.generate() and chat()
    blocking = {"serve"}  # takes the arguments of Server
    others = {"aload", "atrain", "aquantize", "aconvert", "adistill", "amake_shortlist",  # take those of the functions without "a"
              "detectable_languages"}  # has none
    names = set(heed.__all__) - {"__version__", "options"}
    own = {name for name in names if inspect.getmodule(getattr(heed, name)).__name__ != "heed._heed"}
    assert own == tried | streams | blocking | others
