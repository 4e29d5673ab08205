#!/usr/bin/env python3
"""Makes embed-*.gguf, rerank.gguf and classify.gguf: directories of ../encoders as llama.cpp's own
converter writes them, in f32; and scores.json: the logits of the labels that llama.cpp's rank
pooling gives to pairs (rerank) and to texts (classify), given as tokens.

    git clone https://github.com/ggml-org/llama.cpp
    venv/bin/pip install torch transformers sentencepiece llama.cpp/gguf-py llama-cpp-python
    venv/bin/python tests/golden/gguf_models/make_encoders.py llama.cpp [NAME ...]
"""
import json
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [sys.argv[1], str(pathlib.Path(sys.argv[1]) / "gguf-py"),
                str(HERE.parents[1] / "judges" / "gguf_types")]

import gguf
import llama
from conversion.bert import (BertModel, ModernBertModel, NomicBertModel, RobertaModel,
                             XLMRobertaModel)
from transformers import AutoTokenizer

ENCODERS = HERE.parent / "encoders"
CONVERTERS = {"embed-bert": (BertModel, "jina-v2-en"),
              "embed-nomic-bert": (NomicBertModel, "jina-v2-en"),
              "embed-modernbert": (ModernBertModel, "modern-bert"),
              "embed-roberta": (RobertaModel, "roberta-bpe"),
              "embed-xlm-roberta": (XLMRobertaModel, "default"),
              "rerank": (XLMRobertaModel, "default"),
              "classify": (BertModel, "jina-v2-en")}
# What the published config has, and the converter insists on.
NOMIC = dict(n_positions=8192, max_trained_positions=2048, activation_function="swiglu",
             causal=False, qkv_proj_bias=False, mlp_fc1_bias=False, mlp_fc2_bias=False,
             prenorm=False, rotary_emb_fraction=1.0, rotary_emb_interleaved=False,
             rotary_emb_scale_base=None, rotary_emb_base=1000)


def convert(name):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch) / name
        shutil.copytree(ENCODERS / name, scratch)
        config = json.loads((scratch / "config.json").read_text())
        if config["model_type"] == "nomic_bert":
            config |= NOMIC
        if config["model_type"] == "modernbert":  # as published, before transformers 5
            config |= dict(global_attn_every_n_layers=3, layer_norm_eps=config["norm_eps"])
        if config["model_type"] == "xlm-roberta":  # published with both files
            shutil.copy(ENCODERS / "rerank" / "sentencepiece.bpe.model", scratch)
            shutil.copy(ENCODERS / "embed-xlm-roberta" / "tokenizer.json", scratch)
        # llama.cpp takes [CLS] to be 101 unless the file has another beginning-of-sequence token.
        config["bos_token_id"] = 0
        (scratch / "config.json").write_text(json.dumps(config))
        converter, pre = CONVERTERS[name]
        # The tokenizer is none of those that the converter knows.
        known = type(converter.__name__, (converter,), {
            "model_arch": converter.model_arch,
            "get_vocab_base_pre": lambda self, tokenizer: pre})
        known(scratch, gguf.LlamaFileType.ALL_F32, HERE / f"{name}.gguf", eager=True,
              model_name=name, hparams=config).write()


def scores():
    """llama.cpp has no segments, so that only texts are compared for BERT."""
    recorded = {}
    for name in ("rerank", "classify"):
        expected = json.loads((ENCODERS / name / "expected.json").read_text())
        # The tokenizer.json beside rerank's SentencePiece model was removed.
        folder = "embed-xlm-roberta" if name == "rerank" else name
        tokenizer = AutoTokenizer.from_pretrained(ENCODERS / folder)
        model = llama.Model(HERE / f"{name}.gguf", llama.RANK)
        recorded[name] = []
        for text in filter(None, expected["texts"][:4]):
            texts = [expected["query"], text] if name == "rerank" else [text]
            tokens = tokenizer(*texts, truncation=True).input_ids
            recorded[name].append(dict(text=text, tokens=tokens,
                                       logits=model.embedding(tokens).tolist()))
    recorded["query"] = json.loads((ENCODERS / "rerank" / "expected.json").read_text())["query"]
    (HERE / "scores.json").write_text(json.dumps(recorded, indent=1) + "\n")


for name in sys.argv[2:] or CONVERTERS:
    convert(name)
scores()
