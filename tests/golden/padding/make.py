#!/usr/bin/env python3
"""Writes expected.json: what encoders of transformers make of texts in which the padding token occurs.

The models are those of ../families. Needs torch and transformers.
"""
import json
import pathlib

import torch
import transformers

HERE = pathlib.Path(__file__).parent
PADDING = 1
SEQUENCES = [[5, 7, PADDING, 9, 11], [PADDING, PADDING, 6, 8], [12, 13, PADDING]]

expected = {}
for family in ("roberta", "xlm-roberta", "mpnet", "m2m-100"):
    model = transformers.AutoModel.from_pretrained(HERE.parent / "families" / family, dtype=torch.float32).eval()
    assert model.config.pad_token_id == PADDING
    encoder = model.get_encoder() if model.config.is_encoder_decoder else model
    rows = []
    for ids in SEQUENCES:
        with torch.no_grad():
            states = encoder(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))
        rows += [[round(x, 5) for x in row] for row in states.last_hidden_state[0].tolist()]
    expected[family] = {"sequences": SEQUENCES, "states": rows}
lines = ",\n".join(f'"{family}": {json.dumps(one)}' for family, one in expected.items())
(HERE / "expected.json").write_text(f"{{\n{lines}\n}}\n")
