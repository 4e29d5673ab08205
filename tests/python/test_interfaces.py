"""The interfaces that people already use: sentence-transformers, scikit-learn, tqdm; adapters; the hub's progress."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types

import numpy
import pytest
from conftest import GOLDEN, make_adapter, make_decoder, make_encoder

import heed
from heed.sklearn import Embedder

LINES = ["the old ship", "the sea", "went out"]


class TestEncode:
    def test_it_is_embed(self, encoder):
        vectors = encoder.encode(LINES, batch_size=2)
        assert numpy.array_equal(vectors, encoder.embed(LINES))
        assert numpy.array_equal(encoder.encode("the sea"), vectors[1])
        unit = encoder.encode(LINES, normalize_embeddings=True)
        assert numpy.allclose(numpy.linalg.norm(unit, axis=1), 1)
        parts = encoder.encode(LINES, convert_to_numpy=False)
        assert isinstance(parts, list) and numpy.array_equal(parts[2], vectors[2])

    def test_tensors_precisions_and_fewer_dimensions_are_those_of_sentence_transformers(self, encoder, monkeypatch):
        vectors = encoder.encode(LINES)
        assert encoder.encode(LINES, output_value="sentence_embedding", device="cpu", precision="float32").tobytes() \
            == vectors.tobytes()
        short = encoder.encode(LINES, truncate_dim=8)
        assert numpy.array_equal(short, vectors[:, :8])
        unit = encoder.encode(LINES, truncate_dim=8, normalize_embeddings=True)
        assert numpy.allclose(unit, short / numpy.linalg.norm(short, axis=1, keepdims=True), atol=1e-6)
        bits = numpy.packbits(vectors > 0, axis=1)
        assert numpy.array_equal(encoder.encode(LINES, precision="ubinary"), bits)
        binary = encoder.encode(LINES, precision="binary")
        assert binary.dtype == numpy.int8 and numpy.array_equal(binary, (bits.astype(int) - 128))
        ranges = numpy.stack([vectors.min(axis=0), vectors.max(axis=0)])
        uint8 = encoder.encode(LINES, precision="uint8")
        assert uint8.dtype == numpy.uint8 and uint8.min(axis=0).max() == 0
        assert numpy.array_equal(encoder.encode(LINES, precision="uint8", ranges=ranges), uint8)
        assert numpy.array_equal(encoder.encode(LINES, precision="int8"), (uint8.astype(int) - 128))
        torch = types.SimpleNamespace(from_numpy=lambda array: ("tensor", array))
        monkeypatch.setitem(sys.modules, "torch", torch)
        kind, shared = encoder.encode(LINES, convert_to_tensor=True)
        assert kind == "tensor" and numpy.array_equal(shared, vectors)
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(ImportError, match="convert_to_tensor needs torch"):
            encoder.encode(LINES, convert_to_tensor=True)

    def test_vectors_of_tokens_are_what_is_pooled(self, encoder):
        states = encoder.encode(LINES, output_value="token_embeddings")
        assert [len(one) for one in states] == [encoder.count_tokens(line) for line in LINES]
        assert numpy.allclose([one.mean(axis=0) for one in states], encoder.encode(LINES), atol=1e-6)
        assert numpy.array_equal(encoder.encode(LINES[0], output_value="token_embeddings"), states[0])

    def test_windows_are_averaged_or_apart(self, encoder):
        text = " ".join(LINES * 3)
        windows = encoder.embed_windows(text, window=8, overlap=2)
        assert len(windows) > 1 and [len(one) for one in encoder.embed_windows([text, ""], window=8, overlap=2)] == [
            len(windows), 1]
        assert text[windows[0].start:windows[0].end] == text[:windows[0].end] and windows[-1].end == len(text)
        mean = numpy.average([one.vector for one in windows], axis=0, weights=[one.tokens for one in windows])
        assert numpy.allclose(encoder.embed(text, window=8, overlap=2), mean, atol=1e-6)

    def test_what_heed_cannot_do_is_refused(self, encoder):
        for arguments, message in (
                ({"output_value": "states"}, "token_embeddings"), ({"output_value": None}, "output_value"),
                ({"output_value": "token_embeddings", "precision": "int8"}, "vectors of tokens are float32"),
                ({"precision": "int4"}, "float32, int8, uint8, binary, ubinary"),
                ({"precision": "int8", "ranges": [[0.0], [1.0]]}, "ranges has the shape"),
                ({"device": "cuda:0"}, "computes on 'cpu'"),
                ({"truncate_dim": 0}, "at least 1"), ({"truncate_dim": 65}, "1 to 64"),
                ({"prompt_name": "passage"}, "the prompts of the model's files are: none")):
            with pytest.raises((ValueError, heed.Error), match=message):
                encoder.encode(LINES, **arguments)

    def test_what_heed_does_otherwise_is_refused_with_what_to_do(self, encoder):
        neutral = {"pool": None, "chunk_size": None, "task": None}
        assert numpy.array_equal(encoder.encode(LINES, **neutral), encoder.encode(LINES))
        for name, value, message in (
                ("pool", object(), "pool is given, expected None: heed computes with threads"),
                ("chunk_size", 3, "chunk_size is given, expected None: it divides texts among processes"),
                ("task", "query", r"task is given, expected None: encode_query\(\)"),
                ("output_value", None, "output_value is None, expected one of sentence_embedding, token_embeddings")):
            for function in (encoder.encode, encoder.encode_query):
                with pytest.raises(ValueError, match=message):
                    function(LINES, **{name: value})

    def test_prompts_stand_before_texts(self, encoder, tmp_path):
        assert numpy.array_equal(encoder.encode(["sea"], prompt="the old "), encoder.embed(["the old sea"]))
        assert numpy.array_equal(encoder.encode("sea", prompt="the "), encoder.embed("the sea"))
        directory = make_encoder(tmp_path / "encoder", masked=False)
        (directory / "modules.json").write_text(json.dumps([
            {"path": "", "type": "sentence_transformers.models.Transformer"},
            {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]))
        (directory / "1_Pooling").mkdir()
        (directory / "1_Pooling/config.json").write_text('{"pooling_mode": "mean"}')
        settings = directory / "config_sentence_transformers.json"
        settings.write_text(json.dumps({"prompts": {"query": "the "}}))
        model = heed.load(directory, random_weights=7)
        assert numpy.array_equal(model.encode(["sea"], prompt_name="query"), model.embed(["the sea"]))
        with pytest.raises(heed.Error, match="are: .query"):
            model.encode(["sea"], prompt_name="passage")
        settings.write_text(json.dumps({"prompts": {"query": "the ", "old": "old "}, "default_prompt_name": "query"}))
        model = heed.load(directory, random_weights=7)
        for arguments in ({}, {"prompt_name": "query"}, {"prompt": "the "}):
            assert numpy.array_equal(model.encode(["sea"], **arguments), model.embed(["sea"]))
        assert numpy.array_equal(model.encode(["sea"], prompt_name="old"), model.embed(["old sea"], prompt=""))
        assert numpy.array_equal(model.encode_query("sea"), model.embed("the sea", prompt=""))
        assert numpy.array_equal(model.encode_document("sea"), model.embed("sea", prompt=""))
        assert numpy.array_equal(
            model.encode_document("sea", prompt="old "), model.embed("sea", task="query", prompt="old "))

    def test_similarity_is_the_cosine(self, encoder):
        vectors = encoder.encode(LINES)
        unit = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
        assert numpy.allclose(encoder.similarity(vectors, vectors), unit @ unit.T, atol=1e-6)
        assert encoder.similarity(vectors[0], vectors[1:]).shape == (1, 2)
        with pytest.raises(ValueError, match="64 and 63"):
            encoder.similarity(vectors, vectors[:, 1:])

    @pytest.mark.parametrize("size", [0, -1, 1.5, "32", None, True])
    def test_a_batch_size_that_is_none_is_refused(self, encoder, size):
        with pytest.raises(ValueError, match="batch_size"):
            encoder.encode(LINES, batch_size=size)


class TestScikitLearn:
    def test_it_transforms(self, encoder):
        embedder = Embedder(encoder, normalize=True)
        vectors = embedder.fit_transform(LINES)
        assert numpy.array_equal(vectors, encoder.embed(LINES, normalize=True))
        assert numpy.array_equal(embedder.transform(iter(LINES)), vectors)
        with pytest.raises(ValueError, match="list"):
            embedder.transform("the sea")

    def test_parameters_are_read_and_changed(self):
        embedder = Embedder("model", pooling="cls")
        assert embedder.get_params() == {
            "model": "model", "pooling": "cls", "normalize": None, "max_seq_length": None}
        assert embedder.set_params(pooling="max").pooling == "max"
        with pytest.raises(ValueError, match="no parameter 'depth'"):
            embedder.set_params(depth=1)
        assert pickle.loads(pickle.dumps(embedder)).get_params() == embedder.get_params()

    def test_a_model_that_is_loaded_is_the_one_of_the_parameters(self, decoder_path):
        embedder = Embedder(str(decoder_path))
        with pytest.raises(heed.Error, match="model.safetensors"):  # it has no weights
            embedder.fit(LINES)

    def test_a_pipeline_learns_with_it(self, encoder):
        pytest.importorskip("sklearn")
        from sklearn.base import clone
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        lines, labels = LINES * 5, [0, 1, 1] * 5
        pipeline = make_pipeline(Embedder(encoder), LogisticRegression())
        assert list(pipeline.fit(lines, labels).predict(lines)) == labels
        assert clone(Embedder("model", normalize=True)).normalize is True
        assert clone(pipeline).fit(lines, labels)[0].model is encoder


def test_progress_changes_no_result(encoder, translator, decoder, capsys):
    pytest.importorskip("tqdm")
    lines = LINES * 400
    assert numpy.array_equal(encoder.embed(lines, progress=True), encoder.embed(lines))
    assert "1200/1200" in capsys.readouterr().err
    few = translator.translate(LINES, progress=True)
    assert [one.text for one in few] == [one.text for one in translator.translate(LINES)]
    sampled = decoder.generate(lines[:600], max_new_tokens=2, temperature=2.0, progress=True)
    assert [one.tokens for one in sampled] == [
        one.tokens for one in decoder.generate(lines[:600], max_new_tokens=2, temperature=2.0)]


def test_an_error_names_the_input_in_any_part(encoder, translator):
    pytest.importorskip("tqdm")
    with pytest.raises(heed.Error, match="line 601"):
        translator.translate(["the sea"] * 600 + ["the " * 5000], progress=True)


def test_adapters_change_outputs_of_their_requests(tmp_path, decoder_path):
    adapter = make_adapter(tmp_path / "adapter")
    base = heed.load(decoder_path, random_weights=7)
    adapted = heed.load(decoder_path, random_weights=7, adapters=[{"path": adapter, "name": "mine", "scale": 0.5}])
    without, with_it = (model.generate(LINES[0], max_new_tokens=8).tokens for model in (base, adapted))
    assert without != with_it
    session = adapted.session()
    expected = {session.add(LINES[0], max_new_tokens=8, adapters=names): tokens
                for names, tokens in (([], without), (["mine"], with_it), (None, with_it))}
    assert {delta.request: delta.generation.tokens for delta in session if delta.generation} == expected
    with pytest.raises(heed.Error, match="other"):
        session.add(LINES[0], adapters=["other"])
    named_by_path = heed.load(decoder_path, random_weights=7, adapters=[adapter]).session()
    assert named_by_path.has(named_by_path.add(LINES[0], adapters=["adapter"], max_new_tokens=1))


class TestHub:
    """Downloads from a hub on the loopback interface."""

    @pytest.fixture
    def hub(self, tmp_path):
        make_decoder(tmp_path / "root/acme/small")
        server = subprocess.Popen([sys.executable, GOLDEN.parent / "hub/hub_server.py", tmp_path / "root"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port = server.stdout.readline().split()[0]
        yield {"endpoint": f"http://127.0.0.1:{port}", "cache": tmp_path / "cache", "offline": False}
        server.stdin.close()
        server.wait()

    def test_progress_is_reported(self, hub, capsys):
        calls = []
        model = heed.load("acme/small", random_weights=1, hub=hub, on_progress=lambda *now: calls.append(now))
        assert model.family == "llama" and calls[-1][0] == "acme/small"
        assert calls[-1][1] == calls[-1][2] > 0 and calls[-1][3] == calls[-1][4] > 0
        again = heed.load("acme/small", random_weights=1, hub=hub, on_progress=lambda *now: pytest.fail("cached"))
        assert again.generate("the", max_new_tokens=3).tokens == model.generate("the", max_new_tokens=3).tokens

    def test_a_bar_is_drawn(self, hub, capsys):
        pytest.importorskip("tqdm")
        heed.load("acme/small", random_weights=1, hub=hub, progress=True)
        assert "acme/small" in capsys.readouterr().err

    def test_an_exception_of_the_function_ends_the_download(self, hub):
        def fail(*_):
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            heed.load("acme/small", random_weights=1, hub=hub, on_progress=fail)
        assert heed.load("acme/small", random_weights=1, hub=hub).family == "llama"

    def test_ctrl_c_ends_a_download(self, hub, tmp_path):
        (tmp_path / "root/faults.json").write_text('{"tokenizer.model": {"slowly": 100}}')  # for minutes
        sent = []

        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.7, interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            heed.load("acme/small", random_weights=1, hub=hub)
        assert time.monotonic() - sent[0] < 5
        timer.join()
