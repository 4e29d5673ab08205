"""heed.Tokenizer."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, Sequence, overload

from . import _heed
from ._process import OfOneProcess

if TYPE_CHECKING:
    from .options import Path, Texts


class Tokenizer(OfOneProcess):
    """Text to token ids and back, with the ids and offsets of Python's `tokenizers`, without a model.

    Tokenizer(path) reads the tokenizer of a Hugging Face model directory, a tokenizer.json, a SentencePiece model or a
    GGUF file. Raises Error when there is none or when it is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._tokenizer = _heed.Tokenizer.load(path)
        for warning in self.warnings:
            warnings.warn(warning, stacklevel=2)

    @classmethod
    def train(
        cls,
        texts: Texts,
        *,
        kind: Literal["byte-level-bpe", "bpe", "unigram"] = "byte-level-bpe",
        vocab_size: int = 8000,
        special_tokens: Sequence[str] | None = None,
        pre_tokenizer: str | None = None,
        min_frequency: int | None = None,
        character_coverage: float | None = None,
    ) -> Tokenizer:
        """Learns a tokenizer of `vocab_size` tokens from texts; byte-level-bpe learns the merges that Python's
        `tokenizers` learns, unigram is the language model of Kudo (2018). `special_tokens`, `pre_tokenizer` and
        `min_frequency` are for byte-level-bpe; `character_coverage`, the share of characters that get a token, is for
        the others. Raises Error when an option is out of range or there is no text."""
        options = {
            "kind": kind,
            "vocab_size": vocab_size,
            "special_tokens": special_tokens,
            "pre_tokenizer": pre_tokenizer,
            "min_frequency": min_frequency,
            "character_coverage": character_coverage,
        }
        tokenizer = cls.__new__(cls)
        tokenizer._tokenizer = _heed.Tokenizer.train(texts, options)
        return tokenizer

    @overload
    def encode(
        self, text: str, pair: str | None = None, *, special: bool = True, max_tokens: int = 0
    ) -> _heed.Encoding: ...
    @overload
    def encode(self, text: Texts, *, special: bool = True, max_tokens: int = 0) -> list[_heed.Encoding]: ...
    def encode(
        self, text: str | Texts, pair: str | None = None, *, special: bool = True, max_tokens: int = 0
    ) -> _heed.Encoding | list[_heed.Encoding]:
        """The tokens of a text, of a pair of texts, or of each text of a list (on several threads). `special` adds the
        tokens that belong around a text. Beyond `max_tokens` (0: no limit) the longer text loses its end."""
        options = {"special": special, "max_tokens": max_tokens}
        if isinstance(text, str):
            return self._tokenizer.encode(text, pair, options)
        if pair is not None:
            raise TypeError("pair is for a single text")
        return self._tokenizer.encode_batch(text, options)

    def encode_batch(self, texts: Texts, *, special: bool = True, max_tokens: int = 0) -> list[_heed.Encoding]:
        """encode() of a list of texts."""
        return self._tokenizer.encode_batch(texts, {"special": special, "max_tokens": max_tokens})

    def count_tokens(self, text: str, *, special: bool = True) -> int:
        """The number of tokens of a text."""
        return len(self.encode(text, special=special))

    def decode(self, ids: Sequence[int], skip_special: bool = True) -> str:
        """The text of token ids."""
        return self._tokenizer.decode(ids, skip_special)

    def token(self, token_id: int) -> str:
        """The token of an id, as the vocabulary has it. Raises Error when there is none."""
        return self._tokenizer.token(token_id)

    def token_id(self, token: str) -> int | None:
        """The id of a token, if the vocabulary has it."""
        return self._tokenizer.token_id(token)

    @property
    def vocab_size(self) -> int:
        """The highest id plus one."""
        return self._tokenizer.vocab_size

    @property
    def warnings(self) -> list[str]:
        """What the files say that has no effect, one sentence for each. Those of Tokenizer(path) are warned of."""
        return self._tokenizer.warnings

    @property
    def special_tokens(self) -> dict[str, int]:
        """The ids by their role: bos, eos, pad, unk, mask, sep, cls."""
        return self._tokenizer.special_tokens

    @property
    def added_tokens(self) -> list[_heed.AddedToken]:
        """The tokens that are found before a text is cut into pieces, in the order of their ids."""
        return self._tokenizer.added_tokens

    def __len__(self) -> int:
        return self.vocab_size

    def __repr__(self) -> str:
        return f"heed.Tokenizer({', '.join(self._tokenizer.files())}; {self.vocab_size} tokens)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self._tokenizer.files() == other._tokenizer.files()

    def __hash__(self) -> int:
        return hash((self.vocab_size, *self._tokenizer.files()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _tokenizer_of_files, (self._tokenizer.files(),)

    def save(self, directory: Path) -> None:
        """Writes the tokenizer's files into a directory, which is created if it does not exist. Raises Error."""
        self._tokenizer.save(directory)


def _tokenizer_of_files(files: dict[str, bytes]) -> Tokenizer:
    """What unpickles a tokenizer."""
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        for name, contents in files.items():
            with open(os.path.join(directory, name), "wb") as file:
                file.write(contents)
        tokenizer = Tokenizer.__new__(Tokenizer)
        tokenizer._tokenizer = _heed.Tokenizer.load(directory)
        return tokenizer
