"""Trains two small SentencePiece models on text written for this test and records how Python's
sentencepiece cuts a set of nasty lines with them.

    pip install sentencepiece==0.2.*
    python tests/golden/sentencepiece/make.py

Writes bpe.model, unigram.model and expected.json beside this file.
"""

import io
import json
import os
import pathlib
import tempfile

import sentencepiece

HERE = pathlib.Path(__file__).resolve().parent

SUBJECTS = ["The old sailor", "A young painter", "My neighbour", "The baker's daughter", "Nobody"]
VERBS = ["watched", "remembered", "painted", "forgot", "was looking for"]
OBJECTS = ["the lighthouse", "seven grey geese", "a letter from Zürich", "the café on the corner"]
ENDINGS = ["before the storm.", "at 7:45 in the evening!", "while it rained?", "(twice)."]
SENTENCES = [
    f"{subject} {verb} {thing} {ending}"
    for subject in SUBJECTS
    for verb in VERBS
    for thing in OBJECTS
    for ending in ENDINGS
]

LINES = [
    "",
    " ",
    "The old sailor forgot the lighthouse.",
    "  leading,   double  and trailing spaces   ",
    "tab\tseparated\twords",
    "line\nbreak\r\n",
    "no\u00a0break\u2003em\u3000ideographic spaces",
    "zero\u200bwidth\ufeffmarks\u00ad",
    "ﬁne ﬂuﬀy ligatures ½ ² ㎏ ①",
    "decomposed: cafe\u0301 Zu\u0308rich A\u030a",
    "漢字と仮名、ｶﾞ full width ＡＢＣ１２３",
    "Ελληνικά, русский, עברית, العربية ﷺ",
    "emoji 🦉👩\u200d👩\u200d👧 🇨🇭",
    "</s> <pad> <unk> <s> ▁ ▁▁",
    "nul\0byte",
    "\u0001\u0002control\u007f\u0085",
    "'quotes' \"and\" ‘other’ “ones” — – … ",
    "7:45 1,000.5 3-4 -5 2024-01-31",
    "UPPER lower MiXeD ſtraße",
    "a" * 70,
    "The café on the corner " * 9,
    "\ud7ff\ue000\ufffd\uffff\U0010ffff",
]


# The library's own table, nmt_nfkc, has 240 KB: too much for a test. Each line: from, to.
RULES = {
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb00": "ff",
    "\u00bd": "1/2",
    "e\u0301": "é",
    "u\u0308": "ü",
    "\u00a0": " ",
    "\u3000": " ",
    "\u200b": " ",
    "\t": " ",
    "\u00ad": "",
    "\ufdfa": "صلى الله عليه وسلم",
    "…": "...",
}


def train(kind, normalization):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        model_type=kind,
        vocab_size=120,
        **normalization,
        hard_vocab_limit=False,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


def main():
    def code_points(text):
        return " ".join(f"{ord(character):X}" for character in text)

    expected = {}
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)  # the model records the path of its rules
        lines = [f"{code_points(old)}\t{code_points(new)}\n" for old, new in RULES.items()]
        pathlib.Path("rules.tsv").write_text("".join(lines))
        normalizations = {
            "bpe": {"normalization_rule_tsv": "rules.tsv"},
            "unigram": {"normalization_rule_name": "identity"},
        }
        models = {kind: train(kind, how) for kind, how in normalizations.items()}
        os.chdir(HERE)
    for kind, serialized in models.items():
        (HERE / f"{kind}.model").write_bytes(serialized)
        processor = sentencepiece.SentencePieceProcessor(model_proto=serialized)
        expected[kind] = {
            "pieces": [processor.id_to_piece(i) for i in range(processor.get_piece_size())],
            "lines": [
                {"text": line, "ids": ids, "decoded": processor.decode(ids)}
                for line in LINES
                for ids in [processor.encode(line)]
            ],
        }
    text = json.dumps(expected, ensure_ascii=True, separators=(",", ":"))
    (HERE / "expected.json").write_text(text.replace('{"text"', '\n{"text"') + "\n")


if __name__ == "__main__":
    main()
