"""heed.detect_language."""

import pickle

import pytest

import heed


def test_the_language_of_a_text():
    detected = heed.detect_language("Wie heißt du denn heute?")
    assert detected[0].code == "de" and detected[0].probability > 0.5
    assert [language.code for language in detected] != heed.detectable_languages()
    assert {language.code for language in detected} == set(heed.detectable_languages())
    assert abs(sum(language.probability for language in detected) - 1) < 1e-6
    assert pickle.loads(pickle.dumps(detected[0])) == detected[0]


def test_languages_restrict_the_answer():
    assert {language.code for language in heed.detect_language("house", languages=["de", "en"])} == {"de", "en"}
    with pytest.raises(heed.Error, match='"xx" is not a language that can be detected'):
        heed.detect_language("house", languages=["xx"])
    with pytest.raises(TypeError):
        heed.detect_language("house", languages="de")


def test_nothing_to_tell_by():
    assert heed.detect_language("42") == []
