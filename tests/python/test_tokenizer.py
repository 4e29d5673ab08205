"""heed.Tokenizer."""

import pytest
from conftest import GOLDEN

import heed

TOKENIZER = GOLDEN / "encoders/classify/tokenizer.json"


@pytest.fixture(scope="module")
def tokenizer():
    return heed.Tokenizer(TOKENIZER)


def test_offsets_are_those_of_the_text(tokenizer, classifier):
    text = "the old sea, \u00e9t\u00e9 \U0001f600 the sea"
    encoding = tokenizer.encode(text)
    assert encoding.ids == classifier.tokenize(text) and len(encoding) == len(encoding.offsets)
    assert encoding.offsets[0] == (0, 0) and encoding.sequence_ids[0] == -1  # [CLS]
    words = [text[begin:end] for begin, end in encoding.offsets if end > begin]
    assert words[0] == "the" and "".join(words) == text.replace(" ", "")


def test_pairs_have_types_and_lists_are_encoded_as_each_text_alone(tokenizer):
    pair = tokenizer.encode("the sea", "the old ship", max_tokens=6)
    assert len(pair) == 6 and set(pair.type_ids) == {0, 1}
    texts = ["the sea", "", "old"]
    assert [one.ids for one in tokenizer.encode(texts)] == [tokenizer.encode(text).ids for text in texts]
    assert tokenizer.encode([]) == []
    with pytest.raises(TypeError):
        tokenizer.encode(texts, "pair")


def test_a_trained_tokenizer_is_saved_and_read(tmp_path):
    trained = heed.Tokenizer.train(["the sea the ship", "the old sea"] * 5, vocab_size=280)
    assert trained.decode(trained.encode("the old ship").ids) == "the old ship"
    assert trained.special_tokens and trained.added_tokens[0].special
    trained.save(tmp_path / "own")
    read = heed.Tokenizer(tmp_path / "own")
    assert read.vocab_size == trained.vocab_size
    assert read.encode("the old sea").ids == trained.encode("the old sea").ids
    assert read.token(read.token_id("the")) == "the" and read.token_id("no such token") is None


def test_wrong_arguments_are_errors(tokenizer, tmp_path):
    with pytest.raises(heed.Error):
        heed.Tokenizer(tmp_path / "missing")
    with pytest.raises(heed.Error):
        tokenizer.token(1 << 30)
    with pytest.raises(heed.Error):
        heed.Tokenizer.train([])
    for wrong in (3, None, [3], "\ud800"):
        with pytest.raises((TypeError, ValueError)):
            tokenizer.encode(wrong)
    with pytest.raises(ValueError, match="kind"):
        heed.Tokenizer.train(["a"], kind="words")
