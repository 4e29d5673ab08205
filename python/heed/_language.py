"""The language of a text."""

from __future__ import annotations

from collections.abc import Iterable

from . import _heed


def detect_language(text: str, *, languages: Iterable[str] = ()) -> list[_heed.DetectedLanguage]:
    """The languages that a text may be in, most probable first; their probabilities add up to 1.

        >>> heed.detect_language("Wie heißt du?")[0].code
        'de'

    Needs no model. `languages`, if there are any, are those that come into question. The list is empty when there is
    nothing to tell the language by: no letters, or most of them from scripts that heed does not know. Raises Error,
    which lists the languages that heed knows, when one of `languages` is none of them.
    """
    return _heed.detect_language(text, languages)


def detectable_languages() -> list[str]:
    """The codes of the languages that detect_language() knows."""
    return _heed.detectable_languages()
