"""What calls return: values that can be compared, printed, pickled and written as JSON."""

import json
import pickle

import pytest
from conftest import make_training_text

import heed


def round_trip(value):
    copy = pickle.loads(pickle.dumps(value))
    assert copy == value and not copy != value and hash(copy) == hash(value) and repr(copy) == repr(value)
    assert copy.to_dict() == value.to_dict() == json.loads(json.dumps(value.to_dict()))
    assert repr(value).startswith(type(value).__name__ + "(")
    assert value != 1 and value is not copy
    return copy


def test_generations(decoder):
    one, other = decoder.generate(["the sea", "the ship"], max_new_tokens=4, top_log_probabilities=2)
    assert one != other
    copy = round_trip(one)
    assert copy.finish_reason == "length" and copy.best[1][0].log_probability == one.best[1][0].log_probability
    assert str(one) == one.text and one.to_dict()["chosen"][0]["token"] == one.tokens[0]
    stopped = decoder.generate("the sea", max_new_tokens=4, stop=[one.text[:1]])
    assert round_trip(stopped).finish_reason == "stop"


def test_searches_and_translations(translator):
    found = translator.translate("the sea", beam=2, n_best=2, alignments=True)
    copy = round_trip(found)
    assert copy.candidates[1].tokens == found.candidates[1].tokens and not copy.candidates[0].complete
    assert copy.candidates[0].alignment == found.candidates[0].alignment != []
    assert found.to_dict()["text"] == found.text


def test_conversations(decoder):
    result = decoder.chat([{"role": "user", "content": "the sea"}], max_new_tokens=4)
    assert round_trip(result).content == result.content == result.to_dict()["answer"]["content"]


def test_labels_scores_and_masks(classifier, reranker, ner, masked, decoder):
    for value in (classifier.classify("A cat sits")[0], reranker.rerank("cat?", ["a cat", "taxes"])[0],
                  ner.label_tokens("A cat sits"), masked.fill("the [MASK]"), decoder.score("the old sea")):
        round_trip(value)
    score = decoder.score("the old sea")
    assert score.to_dict()["perplexity"] == score.perplexity


def test_attention(translator):
    attention = translator.attention("the sea", target="mar")
    copy = round_trip(attention)
    assert repr(copy) == f"Attention({len(attention)} maps: encoder_self, decoder_self, cross)"
    assert copy.page() == attention.page() and copy._repr_html_() == attention._repr_html_()
    one = round_trip(attention[-1])
    assert repr(one) == f"AttentionMap(kind='cross', layer={one.layer}, weights={list(one.weights.shape)})"
    assert one.to_dict()["weights"][0][0] == one.weights[0, 0].tolist() and one != attention[0]
    assert one != translator.attention("the ship", target="mar")[-1]
    assert one._repr_svg_() is None
    with pytest.raises(heed.Error, match="unpickled and has no figures"):
        one.svg()


def test_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_training_text(tmp_path)
    steps, validations = [], []
    result = heed.train("config.toml", out=tmp_path / "run", on_step=steps.append, on_validation=validations.append,
                        settings={"data.source": "train.en", "data.target": "train.es"})
    assert round_trip(result).model == result.model
    assert result.to_dict()["model"] == str(result.model)
    assert round_trip(steps[-1]).loss == steps[-1].loss and round_trip(validations[-1]).samples


def test_tokenizers():
    tokenizer = heed.Tokenizer.train(["the sea", "the ship"], vocab_size=300)
    encoding = tokenizer.encode("the ship")
    assert round_trip(encoding).offsets == encoding.offsets
    assert tokenizer.encode_batch(["the ship", "the sea"])[0] == encoding
    assert tokenizer.count_tokens("the ship") == len(encoding) == len(encoding.ids)
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy == tokenizer and hash(copy) == hash(tokenizer) and copy.encode("the ship") == encoding
    assert copy != heed.Tokenizer.train(["no"], vocab_size=270) and len(copy) == copy.vocab_size
    assert repr(copy) == f"heed.Tokenizer(tokenizer.json; {copy.vocab_size} tokens)"
    round_trip(heed.Tokenizer.train(["x"], vocab_size=260, special_tokens=["<end>"]).added_tokens[0])


def test_a_pickle_of_another_version_is_refused(decoder):
    generation = decoder.generate("the", max_new_tokens=1)
    with pytest.raises(ValueError, match="another version"):
        generation.__class__.__new__(heed.Generation).__setstate__(generation.__getstate__()[:-1])


def test_logits_choose_the_next_token(decoder, translator):
    tokens = decoder.tokenize("the sea")
    logits = decoder.logits(tokens)
    assert logits.shape == (len(tokens), decoder.vocab_size)
    assert int(logits[-1].argmax()) == decoder.generate("the sea", max_new_tokens=1).tokens[0]
    with pytest.raises(heed.Error, match="source"):
        translator.logits([0])
    assert translator.logits([0, 5], source_tokens=[7, 0]).shape[0] == 2


def test_tokens_are_counted(decoder):
    messages = [{"role": "user", "content": "the sea"}]
    assert decoder.count_tokens("the sea") == len(decoder.tokenize("the sea")) == decoder.count_tokens([1] * decoder.count_tokens("the sea"))
    assert decoder.count_tokens(messages) == len(decoder.chat_prompt(messages).tokens) > decoder.count_tokens("the sea")
