"""Generation, search, translation and sessions."""

import shutil

import pytest
from conftest import GOLDEN

import heed

TEXT = "the old ship went out to sea"


def test_streamed_pieces_are_the_text_of_the_whole_output(decoder):
    whole = decoder.generate(TEXT, max_new_tokens=12)
    stream = decoder.generate(TEXT, max_new_tokens=12, stream=True)
    assert "".join(stream) == whole.text == str(whole)
    assert stream.generation.tokens == whole.tokens
    assert whole.finish_reason == "length" and len(whole.tokens) == 12


def test_a_batch_has_the_outputs_that_each_prompt_has_alone(decoder):
    texts = [TEXT, "the sea", decoder.tokenize("a ship")]
    batch = decoder.generate(texts, max_new_tokens=6)
    assert [one.text for one in batch] == [decoder.generate(text, max_new_tokens=6).text for text in texts]
    assert decoder.generate([]) == []


def test_options_reach_the_engine(decoder):
    assert len(decoder.generate(TEXT, max_new_tokens=3).tokens) == 3
    sampled = {decoder.generate(TEXT, max_new_tokens=8, temperature=1.5, seed=seed).text for seed in range(4)}
    assert len(sampled) > 1
    first = decoder.generate(TEXT, max_new_tokens=2).tokens[0]
    assert decoder.generate(TEXT, max_new_tokens=2, logit_bias={first: float("-inf")}).tokens[0] != first
    ended = decoder.generate(TEXT, max_new_tokens=2, end_tokens=[first])
    assert ended.tokens == [] and ended.finish_reason == "stop"


def test_log_probabilities(decoder):
    output = decoder.generate(TEXT, max_new_tokens=4, top_log_probabilities=3)
    assert [one.token for one in output.chosen] == output.tokens
    for chosen, best in zip(output.chosen, output.best):
        assert len(best) == 3 and best[0].log_probability == chosen.log_probability  # greedy


def test_a_closed_stream_ends(decoder):
    with decoder.generate(TEXT, max_new_tokens=100000, stream=True) as stream:
        next(stream)
    assert list(stream) == []


def test_search_returns_the_best_first(decoder):
    (found,) = decoder.search([TEXT], num_beams=3, n_best=3, max_new_tokens=5)
    assert len(found) == 3 and found[0].score >= found[1].score >= found[2].score


def test_documents(translator, capsys):
    text = "The old sea. A ship\n\n  in the sea\n"
    document = translator.translate_document(text, beam=2)
    assert [one.source for one in document.sentences] == ["The old sea.", "A ship", "in the sea"]
    assert [one.paragraph for one in document.sentences] == [0, 0, 1]
    alone = translator.translate([one.source for one in document.sentences], beam=2)
    assert [one.translation.text for one in document.sentences] == [one.text for one in alone]
    first, second, third = (one.text for one in alone)
    assert document.text == str(document) == f"{first} {second}\n\n  {third}\n"
    assert translator.translate_document(text, beam=2, progress=True).text == document.text
    assert "3/3" in capsys.readouterr().err
    page = translator.translate_document("<p>the <b>sea</b></p>", format="html").text
    assert page.startswith("<p>") and page.count("<b>") == page.count("</b>") == 1
    with pytest.raises(heed.Error, match="html"):
        translator.translate_document(text, format="rtf")


def test_translations(translator):
    lines = ["And God said", "the sea", ""]
    found = translator.translate(lines, beam=4, scores=True)
    assert [one.text for one in found] == [translator.translate(line).text for line in lines]
    assert found[2].text == "" and found[2].candidates == []
    greedy = translator.translate("And God said", beam=1, alignments=True)
    assert all(pair.source < 3 for pair in greedy.candidates[0].alignment)


def test_terms_of_a_glossary_are_translated_as_it_says(translator, tmp_path):
    found = translator.translate("the old ship", glossary={"ship": "sea", "old": ["gull", "went"]}).text.split()
    assert "sea" in found and ("gull" in found or "went" in found)
    file = tmp_path / "terms.tsv"
    file.write_text("ship\tgull\n")
    assert "gull" in translator.translate("the ship", glossary=file).text.split()
    assert "ship" in translator.translate("the ship", do_not_translate=["ship"]).text.split()
    with pytest.raises(heed.Error, match="terms.tsv: line 1: a term has 1 columns"):
        file.write_text("ship")
        translator.translate("the ship", glossary=file)
    with pytest.raises(TypeError, match="a target of glossary"):
        translator.translate("the ship", glossary={"ship": 3})
def test_confidence_of_translations(translator, tmp_path):
    with pytest.raises(heed.Error, match="confidence.json"):
        translator.translate("the sea", confidence=True)
    shutil.copytree(GOLDEN / "translation/opus-mt", tmp_path / "model")
    model = heed.load(tmp_path / "model")
    sources = [f"the sea {word} went out" for word in "old the a ship sea in out went".split()] * 8
    references = [model.translate(line).text if i % 2 else "0" for i, line in enumerate(sources)]
    report = model.calibrate_confidence(sources, references)
    assert report.sentences == len(sources) and report.words >= 200
    model = heed.load(tmp_path / "model")
    assert model.evaluate_confidence(sources, references).word_error < report.uncalibrated_word_error
    best = model.translate("the old sea", confidence=True).candidates[0]
    assert 0 < best.confidence < 1
    assert "".join(word.text for word in best.words) == best.text.replace(" ", "")
    assert all(0 < word.confidence < 1 for word in best.words)
    assert model.translate("the old sea").candidates[0].confidence is None


def test_translations_in_two_steps(translator):
    between = translator.translate("the old sea")
    found = translator.translate("the old sea", then=translator)
    assert found.pivot == between.text
    assert found.text == translator.translate(between.text).text
    with pytest.raises(TypeError, match="then"):
        translator.translate("the old sea", then="model")


def test_a_stream_of_a_translator_is_its_translation(translator):
    stream = translator.generate("And God said", stream=True)
    assert "".join(stream) == translator.translate("And God said").text
    assert stream.candidates[0].text == translator.translate("And God said").text


def test_a_stream_of_a_translator_has_alignments(translator):
    stream = translator.generate("And God said", stream=True, alignments=True)
    list(stream)
    (expected,) = translator.translate("And God said", alignments=True).candidates
    pairs = [[(pair.source, pair.target) for pair in one.alignment] for one in (stream.candidates[0], expected)]
    assert pairs[0] == pairs[1]


class TestSessions:
    def test_outputs_are_those_of_requests_alone(self, decoder):
        session = decoder.session(max_prefill_tokens=4)
        texts = {session.add(text, max_new_tokens=6): text for text in (TEXT, "the sea", "out")}
        found = dict.fromkeys(texts, "")
        for delta in session:
            found[delta.request] += delta.text
        assert found == {id: decoder.generate(text, max_new_tokens=6).text for id, text in texts.items()}
        assert session.requests == 0

    def test_functions_receive_deltas_and_cancel(self, decoder):
        session = heed.Session(decoder)
        parts = []

        def receive(delta):
            parts.append(delta.text)
            return len(parts) < 3

        request = session.add(TEXT, receive, max_new_tokens=100000)
        while session.requests:
            assert session.step() == []
        assert len(parts) == 3 and not session.has(request)

    def test_an_exception_of_a_function_ends_its_request_alone(self, decoder):
        session = decoder.session()

        def fail(delta):
            raise LookupError("mine")

        failing = session.add("the sea", fail, max_new_tokens=6)
        other = session.add(TEXT, max_new_tokens=6)
        with pytest.raises(LookupError, match="mine"):
            session.step()
        assert not session.has(failing) and session.has(other)
        text = "".join(delta.text for delta in session)
        whole = decoder.generate(TEXT, max_new_tokens=6).text
        assert text == whole

    def test_a_request_may_search(self, decoder):
        session = decoder.session()
        session.add(TEXT, num_beams=3, n_best=2, max_new_tokens=5)
        (delta,) = [delta for delta in session if delta.candidates is not None]
        (alone,) = decoder.search([TEXT], num_beams=3, n_best=2, max_new_tokens=5)
        assert [one.text for one in delta.candidates] == [one.text for one in alone]

    def test_a_function_may_not_step(self, decoder):
        session = decoder.session()
        session.add(TEXT, lambda delta: session.step(), max_new_tokens=4)
        with pytest.raises(heed.Error, match="from the function of a request"):
            session.step()
        assert session.requests == 0

    def test_a_closed_session_and_a_closed_model_raise(self, decoder_path):
        model = heed.load(decoder_path, random_weights=1)
        with model.session() as session:
            session.add(TEXT, max_new_tokens=3)
            model.close()
            assert "".join(delta.text for delta in session)  # keeps the weights
        with pytest.raises(heed.Error, match="closed"):
            session.step()
        with pytest.raises(heed.Error, match="closed"):
            model.generate(TEXT)
