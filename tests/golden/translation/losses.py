#!/usr/bin/env python3
"""Writes losses.json: what transformers makes of sentence pairs when it trains the multilingual models beside this file
(tokens, labels, and the cross entropy per target token).

    venv/bin/python tests/golden/translation/losses.py      # the environment of make.py
"""
import json
import pathlib

import torch
import transformers as hf

HERE = pathlib.Path(__file__).parent
PAIRS = [("The old house stands by the river.", "La vieille maison est au bord de la rivière."),
         ("A ship left the harbour.", "Un navire quitta le port à 5 heures."),
         ("x", "naïve et calme")]
LANGUAGES = {"m2m-100": ("en", "fr"), "nllb": ("eng_Latn", "fra_Latn"), "mbart": ("en_XX", "ro_RO"),
             "mbart-50": ("en_XX", "fr_XX")}

torch.set_num_threads(1)
losses = {}
for folder, (source, target) in LANGUAGES.items():
    tokenizer = hf.AutoTokenizer.from_pretrained(HERE / folder, src_lang=source, tgt_lang=target)
    model = hf.AutoModelForSeq2SeqLM.from_pretrained(HERE / folder).float().eval()
    total = count = 0
    encoded = []
    for text, translation in PAIRS:
        batch = tokenizer(text, text_target=translation, return_tensors="pt")
        with torch.no_grad():
            loss = model(**batch).loss
        encoded.append({"source": batch["input_ids"][0].tolist(), "labels": batch["labels"][0].tolist()})
        total += loss.double().item() * batch["labels"].numel()
        count += batch["labels"].numel()
    losses[folder] = {"source_language": source, "target_language": target, "tokens": encoded, "loss": total / count}
(HERE / "losses.json").write_text(json.dumps({"pairs": PAIRS, "models": losses}, ensure_ascii=False) + "\n")
