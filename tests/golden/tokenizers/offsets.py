"""Records where `tokenizers` finds tokens in texts: the first character and the one after the last.

    pip install tokenizers==0.23.*
    python tests/golden/tokenizers/offsets.py

Writes for each KIND.json: to offsets.json the offsets of LINES, without special tokens, and for each
BLOCK of the first COUNT lines of lines.py a 64-bit hash of theirs; to encodings.json the ids, types,
sequences and offsets of single texts and pairs, with and without special tokens, whole and truncated.
"""

import json
import struct
from itertools import chain

from tokenizers import Tokenizer

from lines import HERE, hash_of, line

LINES = [
    "Ada Lovelace met  Babbage, in London.",
    " Caf\u00e9 cafe\u0301\tna\u00efve \u4e2d\u6587 \U0001f642!",
    "\u00c5NGSTR\u00d6M \ufb01ve x\u0323\u0307 <unk>it's 12345",
    "  both ends  ",
    "\u3000wide\u00a0spaces\u3000\n",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 and \U0001f1e9\U0001f1ea \u2764\ufe0f",
    "\u4eba\u4eba\u751f\u800c\u81ea\u7531\uff0c\u5728\u5c0a\u4e25\u3002 \u3059\u3079\u3066\u306e \ud55c\uad6d\uc5b4",
    "e\u0301\u0302a\u0300 \u0f81\u0f81 \u01ea\u0335 \u1e9b\u0323 \u2177\u0014)",
    "broken \ufffd\ufffd and \ufffd",
    "x<mask>y  <mask> \n<s>",
]
COUNT, BLOCK = 6000, 120
TEXTS = [" Caf\u00e9 cafe\u0301 \U0001f642", "<mask> a  "]
PAIRS = [("\u4eba\u4eba ", "\U0001f642 Two  three four")]


def hashes(tokenizer, texts):
    encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
    data = [struct.pack(f"<{2 * len(e.offsets) + 1}i", len(e.offsets), *chain(*e.offsets)) for e in encodings]
    return [f"{hash_of(b''.join(data[i : i + BLOCK])):016x}" for i in range(0, COUNT, BLOCK)]


def recorded(encoding):
    sequences = [-1 if s is None else s for s in encoding.sequence_ids]
    return {"ids": encoding.ids, "types": encoding.type_ids, "sequences": sequences, "offsets": encoding.offsets}


def encodings(tokenizer):
    cases = []
    for texts in [(t,) for t in TEXTS] + PAIRS:
        for special in (True, False):
            for most in (0, 9):
                tokenizer.enable_truncation(most) if most else tokenizer.no_truncation()
                encoding = tokenizer.encode(*texts, add_special_tokens=special)
                cases.append({"texts": texts, "special": special, "max_tokens": most, **recorded(encoding)})
    tokenizer.no_truncation()
    return cases


def write(name, header, kinds):
    body = ",\n".join(
        f"{json.dumps(kind)}: [\n" + ",\n".join(json.dumps(x, separators=(",", ":")) for x in items) + "]"
        for kind, items in kinds.items()
    )
    (HERE / name).write_text(f"{{{header}" + body + "}" * (2 if header else 1) + "\n")


def main():
    texts = [line(number).decode("utf-8", "replace") for number in range(COUNT)]
    offsets, all_hashes, cases = {}, {}, {}
    for path in sorted(HERE.glob("*.json")):
        if path.stem in ("expected", "offsets", "encodings"):
            continue
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        offsets[path.stem] = [tokenizer.encode(text, add_special_tokens=False).offsets for text in LINES]
        all_hashes[path.stem] = hashes(tokenizer, texts)
        cases[path.stem] = encodings(tokenizer)
    header = f'"lines": {json.dumps(LINES)},\n"hashes": {json.dumps(all_hashes, separators=(",", ":"))},\n"kinds": {{\n'
    write("offsets.json", header, offsets)
    write("encodings.json", "", cases)


main()
