#!/usr/bin/env python3
"""Makes settings.json beside this file: what sentence-transformers and transformers' pipelines make
of the texts of make.py with other settings in the files of the folders that make.py made.

    venv/bin/python tests/golden/encoders/settings.py

A case names a folder and the members of JSON files that are replaced in a copy of it (null: the file
is removed), and has "embeddings", "scores" (of QUERY with each text), "labels" or "entities".
"""
import json
import pathlib
import shutil
import tempfile

import sentence_transformers
import torch
import transformers as hf

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
TOKENIZER, BERT, PROMPTS, POOLING = ("tokenizer_config.json", "sentence_bert_config.json",
                                     "config_sentence_transformers.json", "1_Pooling/config.json")
QUERY_PROMPT = dict(prompts={"query": "The kitten of Ada: "}, default_prompt_name="query")
RERANKER = {
    "modules.json": [dict(idx=0, name="0", path="",
                          type="sentence_transformers.base.modules.transformer.Transformer")],
    BERT: dict(transformer_task="sequence-classification", module_output_name="scores",
               modality_config=dict(text=dict(method="forward", method_output_name="logits"))),
    PROMPTS: dict(model_type="CrossEncoder", activation_fn="torch.nn.modules.linear.Identity")}


def reranker(**changes):
    return {file: value | changes.get(file.split(".")[0], {}) if isinstance(value, dict) else value
            for file, value in RERANKER.items()}


CASES = [
    ("embed-bert", {TOKENIZER: dict(model_max_length=7)}),
    ("embed-bert", {TOKENIZER: dict(model_max_length=1000000000000000019884624838656)}),
    ("embed-bert", {TOKENIZER: dict(model_max_length=None, max_len=9)}),
    ("embed-bert", {TOKENIZER: dict(model_max_length=12), BERT: dict(max_seq_length=8)}),
    ("embed-bert", {TOKENIZER: dict(model_max_length=8), BERT: dict(max_seq_length=12)}),
    ("embed-bert", {BERT: dict(max_seq_length=60)}),
    ("embed-bert", {BERT: dict(max_seq_length=12, processor_kwargs=dict(model_max_length=9))}),
    ("embed-bert", {BERT: dict(tokenizer_args=dict(model_max_length=9))}),
    ("embed-bert", {BERT: None, "sentence_roberta_config.json": dict(max_seq_length=9)}),
    ("embed-nomic-bert", {TOKENIZER: dict(model_max_length=9, truncation_side="left")}),
    ("embed-bert", {TOKENIZER: dict(model_max_length=9),
                    "tokenizer.json": dict(truncation=dict(
                        direction="Left", max_length=30, strategy="LongestFirst", stride=0))}),
    ("embed-bert", {PROMPTS: QUERY_PROMPT}),
    ("embed-bert", {PROMPTS: QUERY_PROMPT, POOLING: dict(include_prompt=False)}),
    ("embed-nomic-bert", {PROMPTS: QUERY_PROMPT, POOLING: dict(include_prompt=False)}),
    ("embed-nomic-bert", {PROMPTS: QUERY_PROMPT | dict(default_prompt_name=None)}),
    ("embed-nomic-bert", {PROMPTS: dict(default_prompt_name="document")}),
    ("embed-nomic-bert", {PROMPTS: QUERY_PROMPT, TOKENIZER: dict(model_max_length=12)}),
    ("embed-bert", {PROMPTS: dict(truncate_dim=5)}),
    ("embed-nomic-bert", {PROMPTS: dict(truncate_dim=500)}),
    ("embed-nomic-bert", {POOLING: dict(pooling_mode=["max"])}),
    ("embed-nomic-bert", {POOLING: dict(pooling_mode="lasttoken", pooling_mode_cls_token=True)}),
    ("embed-bert", {"modules.json": None, PROMPTS: QUERY_PROMPT,
                    TOKENIZER: dict(model_max_length=7)}),
    ("rerank", {TOKENIZER: dict(model_max_length=16)}),
    ("rerank", {TOKENIZER: dict(model_max_length=16), PROMPTS: QUERY_PROMPT}),
    ("rerank", reranker()),
    ("rerank", reranker(sentence_bert_config=dict(max_seq_length=14))),
    ("rerank", reranker(config_sentence_transformers=QUERY_PROMPT)),
    ("classify", {TOKENIZER: dict(model_max_length=9)}),
    ("classify", {TOKENIZER: dict(model_max_length=9, truncation_side="left")}),
    ("ner", {TOKENIZER: dict(model_max_length=12)}),
    ("ner", {TOKENIZER: dict(model_max_length=12, truncation_side="left")}),
]


def change(folder, files):
    for name, members in files.items():
        file = folder / name
        if members is None:
            file.unlink()
        elif isinstance(members, list):
            file.write_text(json.dumps(members))
        else:
            old = json.loads(file.read_text()) if file.exists() else {}
            file.write_text(json.dumps(old | members))


def outputs(name, folder):
    golden = json.loads((folder / "expected.json").read_text())
    texts, path = golden["texts"], str(folder)
    eager = dict(attn_implementation="eager")
    if name.startswith("embed"):
        model = sentence_transformers.SentenceTransformer(path, device="cpu", model_kwargs=eager)
        return dict(embeddings=model.encode(texts, batch_size=1).tolist())
    if name == "rerank":
        model = sentence_transformers.CrossEncoder(path, device="cpu", model_kwargs=eager)
        return dict(scores=[float(model.predict([(golden["query"], t)])[0]) for t in texts])
    if name == "classify":
        pipe = hf.pipeline("text-classification", model=path, top_k=None)
        return dict(labels=[{l["label"]: l["score"] for l in pipe([t], truncation=True)[0]}
                            for t in texts])
    pipe = hf.pipeline("token-classification", model=path, aggregation_strategy="simple")
    return dict(entities=[[dict(label=e["entity_group"], score=float(e["score"]), start=e["start"],
                                end=e["end"]) for e in (pipe(t) if t else [])] for t in texts])


cases = []
for name, files in CASES:
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / name
        shutil.copytree(HERE / name, folder)
        change(folder, files)
        cases.append(dict(folder=name, files=files) | outputs(name, folder))
    print(name, files)
(HERE / "settings.json").write_text(
    "[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
