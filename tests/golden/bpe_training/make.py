"""Records what the BpeTrainer of Python's `tokenizers` learns from the lines of ../tokenizers/lines.py,
with the ways of cutting words of several models.

    pip install tokenizers==0.23.*
    python tests/golden/bpe_training/make.py

Writes expected.json beside this file: for each case the options and the merges; pieces follow from
them.
"""

import json
import pathlib
import sys

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).resolve().parent
TOKENIZERS = HERE.parent / "tokenizers"
sys.path.insert(0, str(TOKENIZERS))
from lines import line  # noqa: E402

LINES = 2000
# The name of heed's pre_tokenizer, the golden tokenizer that has it, and the options.
CASES = [
    ("gpt-2", "gpt2", 700, 0, ["<|endoftext|>"]),
    ("llama-bpe", "llama3", 500, 0, ["<a>", "<b>"]),
    ("qwen2", "qwen2", 5000, 8, []),
    ("deepseek-v3", "deepseek_v3", 450, 0, ["!"]),
]


def learned(kind, vocab_size, min_frequency, specials, texts):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = Tokenizer.from_file(str(TOKENIZERS / f"{kind}.json")).pre_tokenizer
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    pieces = sorted(model["vocab"], key=model["vocab"].get)
    return {"merges": [" ".join(merge) for merge in model["merges"]], "pieces": len(pieces), "last": pieces[-1]}


def main():
    texts = [line(number).decode("utf-8", "replace") for number in range(LINES)]
    cases = []
    for name, kind, vocab_size, min_frequency, specials in CASES:
        options = {"pre_tokenizer": name, "vocab_size": vocab_size, "min_frequency": min_frequency,
                   "special_tokens": specials}
        cases.append({**options, **learned(kind, vocab_size, min_frequency, specials, texts)})
    text = ",\n".join(json.dumps(case) for case in cases)
    (HERE / "expected.json").write_text(f'{{"lines": {LINES}, "cases": [\n{text}]}}\n')


main()
