#!/usr/bin/env python3
"""Makes embed-*.gguf: directories of ../encoders as llama.cpp's own converter writes them, in f32.

    git clone https://github.com/ggml-org/llama.cpp
    venv/bin/pip install torch transformers sentencepiece llama.cpp/gguf-py
    venv/bin/python tests/golden/gguf_models/make_encoders.py llama.cpp
"""
import json
import pathlib
import shutil
import sys
import tempfile

sys.path[:0] = [sys.argv[1], str(pathlib.Path(sys.argv[1]) / "gguf-py")]

import gguf
from conversion.bert import BertModel, ModernBertModel, NomicBertModel

HERE = pathlib.Path(__file__).parent
CONVERTERS = {"embed-bert": (BertModel, "jina-v2-en"),
              "embed-nomic-bert": (NomicBertModel, "jina-v2-en"),
              "embed-modernbert": (ModernBertModel, "modern-bert")}
# What the published config has, and the converter insists on.
NOMIC = dict(n_positions=8192, max_trained_positions=2048, activation_function="swiglu",
             causal=False, qkv_proj_bias=False, mlp_fc1_bias=False, mlp_fc2_bias=False,
             prenorm=False, rotary_emb_fraction=1.0, rotary_emb_interleaved=False,
             rotary_emb_scale_base=None, rotary_emb_base=1000)

for name in sys.argv[2:] or CONVERTERS:
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch) / name
        shutil.copytree(HERE.parent / "encoders" / name, scratch)
        config = json.loads((scratch / "config.json").read_text())
        if config["model_type"] == "nomic_bert":
            config |= NOMIC
        if config["model_type"] == "modernbert":  # as published, before transformers 5
            config |= dict(global_attn_every_n_layers=3, layer_norm_eps=config["norm_eps"])
        # llama.cpp takes [CLS] to be 101 unless the file has another beginning-of-sequence token.
        config["bos_token_id"] = 0
        (scratch / "config.json").write_text(json.dumps(config))
        converter, pre = CONVERTERS[name]
        # The tokenizer is none of those that the converter knows.
        known = type(converter.__name__, (converter,), {
            "model_arch": converter.model_arch,
            "get_vocab_base_pre": lambda self, tokenizer, pre=pre: pre})
        known(scratch, gguf.LlamaFileType.ALL_F32, HERE / f"{name}.gguf", eager=True,
              model_name=name, hparams=config).write()
