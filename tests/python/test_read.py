"""Tokens, vectors, scores, labels, attention and chat."""

import json

import numpy
import pytest
from conftest import make_encoder

import heed

TEXT = "the old ship went out to sea"


def test_tokens(decoder):
    tokens = decoder.tokenize(TEXT)
    assert decoder.detokenize(tokens) == TEXT
    strided = numpy.array(tokens + tokens, dtype=numpy.int64)[::2]
    assert decoder.detokenize(strided) == decoder.detokenize(list(strided))
    assert decoder.token_text(decoder.tokenize("the")[-1])
    assert b"".join(decoder.token_bytes(token) for token in tokens).decode().strip() == TEXT


def test_embeddings_are_rows_of_one_float32_array(encoder):
    lines = ["the old ship", "sea", ""]
    vectors = encoder.embed(lines)
    assert vectors.shape == (3, encoder.embedding_size) and vectors.dtype == numpy.float32
    assert vectors.flags.c_contiguous and vectors.flags.writeable
    assert not vectors.flags.owndata  # memory of heed
    for line, vector in zip(lines, vectors):
        assert numpy.array_equal(encoder.embed(line), vector)
    assert encoder.embed([]).shape == (0, encoder.embedding_size)
    unit = encoder.embed(lines, normalize=True)
    assert numpy.allclose(numpy.linalg.norm(unit, axis=1), 1)
    assert numpy.array_equal(numpy.from_dlpack(vectors), vectors)


def test_scores(decoder, translator):
    score = decoder.score(TEXT)
    assert len(score.log_probabilities) == len(score.tokens) - 1
    assert score.log_probability == pytest.approx(sum(score.log_probabilities))
    assert score.perplexity == pytest.approx(numpy.exp(-numpy.mean(score.log_probabilities)))
    assert [one.log_probability for one in decoder.score([TEXT, TEXT])] == [score.log_probability] * 2
    assert translator.score_pair("the sea", "mar").log_probability < 0


def test_masked_words(masked):
    filled = masked.fill("the old [MASK] went out", top=3)
    (mask,) = filled.masks
    assert len(mask.best) == 3 and mask.best[0].probability >= mask.best[1].probability


def test_labels(classifier, reranker, ner):
    labels = classifier.classify("A cat sits")
    assert [one.label for one in labels] == [one.label for one in classifier.classify(["A cat sits"])[0]]
    assert {one.label for one in labels} == {"bad", "fair", "good"}
    assert len(classifier.classify([("A cat", "sits"), "alone"])) == 2
    documents = ["A cat sits on the warm stove.", "The kitten lies by the fire", "taxes"]
    ranked = reranker.rerank("Where does the cat sit?", documents)
    assert [one.index for one in ranked] == [1, 0, 2]  # as in tests/cli/labels_test.sh
    entities = ner.label_tokens("A cat sits").entities
    assert [(one.label, one.text, one.start, one.end) for one in entities] == [
        ("PER", "A cat", 0, 5), ("PER", " sits", 5, 10)]


class TestAttention:
    def test_weights_are_a_view(self, decoder):
        maps = decoder.attention(TEXT)
        assert len(maps) == 2
        first = maps[0]
        assert first.weights.shape == (4, len(first.queries), len(first.keys))
        assert numpy.allclose(first.weights.sum(axis=2), 1, atol=1e-5)
        assert first.weights.dtype == numpy.float32 and not first.weights.flags.owndata
        weights = first.weights
        del first, maps
        assert numpy.allclose(weights.sum(axis=2), 1, atol=1e-5)  # keeps the map alive

    def test_a_choice_is_a_part_of_all(self, translator):
        every = translator.attention("the sea", target="mar")
        kinds = {one.kind for one in every}
        assert kinds == {"encoder_self", "decoder_self", "cross"}
        (one,) = translator.attention("the sea", target="mar", kind="cross", layer=0, head=1)
        (same,) = [each for each in every if each.kind == "cross" and each.layer == 0]
        assert numpy.array_equal(one.weights[0], same.weights[1])

    def test_a_notebook_shows_a_page_and_figures(self, translator, decoder):
        for attention in (translator.attention("the sea", target="mar"), decoder.attention(TEXT)):
            page = attention.page()
            assert page.startswith("<!doctype html>") and "<script" in page
            frame = attention._repr_html_()
            assert frame.startswith("<iframe srcdoc=") and "<script" not in frame
            assert attention[0]._repr_svg_().startswith("<?xml")
            assert "<svg" in attention[-1].svg(head=1, figure="heatmap")
        with pytest.raises(ValueError, match="head"):
            decoder.attention(TEXT)[0].svg(head=99)


class TestChat:
    MESSAGES = [{"role": "user", "content": "the old ship"}]

    def test_the_prompt_is_that_of_the_template(self, decoder):
        assert decoder.has_chat_template
        assert decoder.chat_prompt(self.MESSAGES).text == "user: the old ship assistant: "

    def test_a_stream_is_the_answer(self, decoder):
        whole = decoder.chat(self.MESSAGES, max_new_tokens=8)
        stream = decoder.chat(self.MESSAGES, max_new_tokens=8, stream=True)
        assert "".join(part.content for part in stream) == whole.content == stream.answer.content
        assert stream.generation.tokens == whole.generation.tokens

    def test_tools_and_variables_reach_the_template(self, decoder):
        template = "{{ tools[0].function.name }} {{ mood }}"
        tools = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
        prompt = decoder.chat_prompt(
            self.MESSAGES, tools=tools, chat_template_kwargs={"mood": "calm"}, chat_template=template)
        assert prompt.text == "look_up calm"
        answer = decoder.chat(self.MESSAGES, tools=tools, max_new_tokens=2)
        assert answer.answer.tool_calls == []

    def test_bad_messages_are_errors(self, decoder):
        with pytest.raises(heed.Error, match="role"):
            decoder.chat([{"content": "x"}])
        with pytest.raises(TypeError):
            decoder.chat([{"role": "user", "content": {1, 2}}])


def test_settings_without_effect_are_warnings(tmp_path):
    directory = make_encoder(tmp_path / "encoder")
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, "alibi": True}))
    with pytest.warns(UserWarning, match="config.json: alibi is true and is ignored"):
        model = heed.load(directory, random_weights=1)
    assert len(model.warnings) == 1


def test_max_sim_compares_finite_vectors_of_one_width():
    assert heed.Model.max_sim([[1, 0], [0, 2]], [[1, 0], [0, 1]]) == 3
    for query, document in [([[1, 0]], [[1]]), ([[1, 0]], numpy.empty((0, 2))), ([1, 0], [[1, 0]])]:
        with pytest.raises(ValueError, match=r"the vectors have the shapes .*, expected \[n, D\] and \[m, D\]"):
            heed.Model.max_sim(query, document)
    with pytest.raises(ValueError, match="a number that is not finite"):
        heed.Model.max_sim([[float("nan")]], [[1.0]])
