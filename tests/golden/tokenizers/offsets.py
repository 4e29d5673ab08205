"""Records in offsets.json where `tokenizers` finds the tokens of LINES, without special tokens: for
each KIND.json and each line, the first character and the one after the last of every token.

    pip install tokenizers==0.23.*
    python tests/golden/tokenizers/offsets.py
"""

import json

from tokenizers import Tokenizer

from lines import HERE

LINES = [
    "Ada Lovelace met  Babbage, in London.",
    " Caf\u00e9 cafe\u0301\tna\u00efve \u4e2d\u6587 \U0001f642!",
    "\u00c5NGSTR\u00d6M \ufb01ve x\u0323\u0307 <unk>it's 12345",
]

offsets = {}
for path in sorted(HERE.glob("*.json")):
    if path.stem in ("expected", "offsets"):
        continue
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    offsets[path.stem] = [tokenizer.encode(line, add_special_tokens=False).offsets for line in LINES]
kinds = ",\n".join(
    f"{json.dumps(kind)}: [\n" + ",\n".join(json.dumps(line, separators=(",", ":")) for line in lines) + "]"
    for kind, lines in offsets.items()
)
(HERE / "offsets.json").write_text(
    '{"lines": ' + json.dumps(LINES) + ',\n"kinds": {\n' + kinds + "}}\n"
)
