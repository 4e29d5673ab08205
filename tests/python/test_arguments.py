"""Whatever is passed, only heed.Error, TypeError and ValueError come out, and the models go on."""

import string
from pathlib import Path

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import heed
from heed import options

TEXT = "the old ship"
SURROGATE = "the \ud800 sea"

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.binary(max_size=8),
    st.sampled_from([SURROGATE, 2**31, 2**63, -(2**63), 2**64, 10**400, float("nan"), float("inf"), 1j, object(), len,
                     int, "", "\0", "f32", "q8_0", "mean", "cross"]))
arrays = st.sampled_from([
    numpy.arange(8)[::2], numpy.arange(6.0).reshape(2, 3), numpy.array(["the", "sea"]), numpy.array(3),
    numpy.array([], dtype=numpy.int32), numpy.array([1, 2], dtype=numpy.uint64), numpy.array([object()])])
values = st.recursive(
    st.one_of(scalars, arrays),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.tuples(inner, inner),
                            st.dictionaries(st.text(string.ascii_lowercase, max_size=5), inner, max_size=2)),
    max_leaves=4)

OPTIONS = {
    "generate": options.RequestOptions, "search": options.SearchOptions, "translate": options.TranslateOptions,
    "translate_document": options.DocumentOptions,
    "embed": options.EmbedOptions, "embed_sparse": options.EmbedOptions, "embed_multi_vector": options.EmbedOptions,
    "embed_windows": options.EmbedOptions,
    "classify": options.ClassifyOptions, "rerank": options.ClassifyOptions,
    "label_tokens": options.ClassifyOptions, "score": options.ScoreOptions, "attention": options.AttentionOptions,
    "chat": options.ChatOptions, "session": options.SessionOptions,
}
ARGUMENTS = {
    "generate": 1, "search": 1, "translate": 1, "translate_document": 1, "embed": 1,
    "embed_sparse": 1, "embed_multi_vector": 1, "embed_windows": 1,
    "encode": 1, "classify": 1, "rerank": 2,
    "label_tokens": 1, "score": 1, "score_pair": 2, "fill": 2, "attention": 1, "chat": 1, "chat_prompt": 1,
    "tokenize": 2, "detokenize": 2, "token_text": 1, "token_bytes": 1, "session": 0,
}
# So that an output that is asked for ends soon.
SHORT = {"generate": {"max_new_tokens": 2}, "search": {"max_new_tokens": 2}, "chat": {"max_new_tokens": 2}}
EXPECTED = (heed.Error, TypeError, ValueError)
quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def models(decoder, masked, encoder, translator, classifier, reranker, ner):
    return [decoder, masked, encoder, translator, classifier, reranker, ner]


def call(function, *arguments, **keywords):
    """Calls it; any other exception than those expected fails the test."""
    try:
        result = function(*arguments, **keywords)
        return list(result) if hasattr(result, "__next__") else result
    except EXPECTED:
        return None


@pytest.mark.parametrize("name", ARGUMENTS)
@quick
@given(data=st.data())
def test_any_arguments(models, name, data):
    model = data.draw(st.sampled_from(models))
    arguments = data.draw(st.lists(values, min_size=ARGUMENTS[name], max_size=ARGUMENTS[name]))
    call(getattr(model, name), *arguments, **SHORT.get(name, {}))


@pytest.mark.parametrize("name", OPTIONS)
@quick
@given(data=st.data())
def test_any_options(models, name, data):
    model = data.draw(st.sampled_from(models))
    known = [one for one in OPTIONS[name].__annotations__ if one not in ("max_new_tokens", "max_new_tokens_over_source")]
    given_options = data.draw(st.dictionaries(st.sampled_from(known + ["unknown"]), values, max_size=2))
    arguments = {"rerank": ("the", ["old sea"]), "session": (), "chat": ([{"role": "user", "content": "the"}],)}
    call(getattr(model, name), *arguments.get(name, (["the", "old sea"],)), **SHORT.get(name, {}), **given_options)


@quick
@given(data=st.data())
def test_any_request_of_a_session(decoder, data):
    session = decoder.session()
    call(session.add, data.draw(values), max_new_tokens=2)
    call(session.add, TEXT, data.draw(values), max_new_tokens=2)
    for function in (session.cancel, session.has):
        call(function, data.draw(values))
    call(session.step)
    call(lambda: list(session))


@quick
@given(data=st.data())
def test_any_options_of_a_load(decoder_path, tmp_path_factory, data):
    names = [name for name in options.LoadOptions.__annotations__ if name != "random_weights"]
    given_options = data.draw(st.dictionaries(st.sampled_from(names), values, max_size=2))
    if isinstance(given_options.get("threads"), int):
        given_options["threads"] = 2  # not as many as the system can start
    if isinstance(given_options.get("weight_cache"), str | bytes | Path):
        given_options["weight_cache"] = tmp_path_factory.getbasetemp() / "weight-cache"  # not anywhere
    call(heed.load, decoder_path, random_weights=1, **given_options)


@quick
@given(path=values)
def test_any_path(path):
    call(heed.load, path, hub={"offline": True})


WITHOUT_TEXT = ("token_text", "token_bytes", "detokenize", "session")


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if name not in WITHOUT_TEXT])
def test_lone_surrogates_are_value_errors(models, name):
    arguments = {"chat": ([{"role": "user", "content": SURROGATE}],), "chat_prompt": ([{"role": SURROGATE}],),
                 "search": ([SURROGATE],), "rerank": (SURROGATE, ["x"]), "score_pair": ("x", SURROGATE)}
    for model in models:
        with pytest.raises(ValueError):
            getattr(model, name)(*arguments.get(name, (SURROGATE,)))


def test_unknown_options_are_type_errors(decoder):
    with pytest.raises(TypeError, match=r"generate\(\) got an unexpected keyword argument 'temprature'"):
        decoder.generate(TEXT, temprature=1)


def test_misspelt_options_and_values_are_told_what_they_may_mean(decoder, decoder_path, encoder, tmp_path):
    for function, options_given, meant in (
            (decoder.generate, {"max_new_token": 5}, "max_new_tokens"),
            (decoder.session().add, {"Temprature": 5}, "temperature"),
            (decoder.chat_prompt, {"tool": []}, "tools"),
            (encoder.encode, {"normalise_embeddings": True}, "normalize_embeddings"),
            (encoder.encode_query, {"precision": "FLOAT32"}, "float32"),
            (encoder.embed, {"pooling": "means"}, "mean")):
        with pytest.raises((TypeError, ValueError), match=rf"; did you mean '{meant}'\?$"):
            function(TEXT, **options_given)
    for function in (heed.load, lambda path, **o: heed.quantize(path, tmp_path / "copy", **o)):
        with pytest.raises(ValueError, match=r"weights is 'Q4_0', expected one of .*; did you mean 'q4_0'\?$"):
            function(decoder_path, weights="Q4_0")
    with pytest.raises(TypeError, match=r"'presett'; did you mean 'preset'\?$"):
        heed.train(presett="tiny")
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'prt'; did you mean 'port'\?$"):
        heed.serve({}, prt=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'$"):
        decoder.generate(TEXT, colour="red")


def test_messages_name_the_argument(decoder):
    with pytest.raises(TypeError, match="temperature has the type str, expected a number"):
        decoder.generate(TEXT, temperature="hot")
    with pytest.raises(ValueError, match="seed is -1, expected 0 to"):
        decoder.generate(TEXT, seed=-1)
    with pytest.raises(ValueError, match="pooling is 'sum', expected one of mean, cls, max"):
        decoder.embed(TEXT, pooling="sum")


def test_options_are_those_of_the_type_stubs(models):
    """Each option that heed.options declares is known to the extension."""
    decoder, _, encoder, translator, classifier, reranker, ner = models
    calls = {
        options.GenerateOptions: lambda **o: decoder._model.generate([], o, 1),
        options.RequestOptions: lambda **o: heed.Session(decoder).add(TEXT, **o),
        options.SearchOptions: lambda **o: decoder._model.search([], o),
        options.TranslateOptions: lambda **o: translator._model.translate([], o, 1),
        options.DocumentOptions: lambda **o: translator._model.translate_document(TEXT, o, None),
        options.EmbedOptions: lambda **o: encoder._model.embed([], o, 1),
        options.ClassifyOptions: lambda **o: classifier._model.classify([], o),
        options.ScoreOptions: lambda **o: decoder._model.score(TEXT, o),
        options.AttentionOptions: lambda **o: decoder._model.attention(TEXT, o),
        options.SessionOptions: lambda **o: heed.Session(decoder, **o),
        options.ChatOptions: lambda **o: decoder._model.chat('[{"role": "user", "content": "x"}]', {**o}),
    }
    for declared, function in calls.items():
        for name in declared.__annotations__:
            try:
                function(**{name: object()})
            except (TypeError, ValueError) as error:
                assert name in str(error) and "unexpected" not in str(error), (declared, name, error)
            else:
                pytest.fail(f"{declared.__name__}: {name} accepts anything")


@pytest.mark.parametrize("name", ARGUMENTS)
def test_closed_models_are_errors(decoder_path, name):
    model = heed.load(decoder_path, random_weights=1)
    model.close()
    model.close()
    arguments = {"token_text": (1,), "token_bytes": (1,), "detokenize": ([1],), "rerank": (TEXT, [TEXT]),
                 "score_pair": (TEXT, TEXT), "chat": ([],), "chat_prompt": ([],), "session": (), "search": ([TEXT],)}
    with pytest.raises(heed.Error, match="the model is closed"):
        getattr(model, name)(*arguments.get(name, (TEXT,)))
    with pytest.raises(heed.Error, match="the model is closed"):
        model.vocab_size


def test_empty_lists(models):
    decoder, masked, encoder, translator, classifier, reranker, ner = models
    assert decoder.generate([]) == decoder.search([]) == decoder.score([]) == []
    assert encoder.embed([]).shape == (0, 64) and list(encoder.encode([], convert_to_numpy=False)) == []
    assert translator.translate([]) == classifier.classify([]) == reranker.rerank("x", []) == ner.label_tokens([]) == []
    assert decoder.detokenize([]) == ""
