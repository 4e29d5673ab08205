#!/usr/bin/env python3
"""Makes the files beside this one: checkpoints of ../families as llama.cpp's own converter writes
them, in f32 and without a vocabulary.

    git clone https://github.com/ggml-org/llama.cpp
    venv/bin/pip install torch transformers sentencepiece llama.cpp/gguf-py
    venv/bin/python tests/golden/gguf_models/make.py llama.cpp
"""
import json
import pathlib
import shutil
import sys
import tempfile

sys.path[:0] = [sys.argv[1], str(pathlib.Path(sys.argv[1]) / "gguf-py")]

import gguf
from conversion.deepseek import DeepseekV2Model
from conversion.gemma import Gemma2Model
from conversion.gpt2 import GPT2Model
from conversion.llama import LlamaModel
from conversion.qwen import Qwen2Model, Qwen3Model

HERE = pathlib.Path(__file__).parent
CONVERTERS = {"llama3": LlamaModel, "llama-bias": LlamaModel, "llama-yarn": LlamaModel,
              "qwen2": Qwen2Model, "qwen3": Qwen3Model, "gemma2": Gemma2Model, "gpt2": GPT2Model,
              "deepseek-v2-group": DeepseekV2Model}


def convert(name, converter, scratch):
    for file in ("config.json", "model.safetensors"):
        shutil.copy(HERE.parent / "families" / name / file, scratch)
    config = json.loads((scratch / "config.json").read_text())
    if "n_positions" in config:
        config["n_ctx"] = config["n_positions"]
        (scratch / "config.json").write_text(json.dumps(config))
    with_tokens = type(converter.__name__, (converter,), {
        "model_arch": converter.model_arch, "set_vocab": lambda self: add_tokens(self, config)})
    model = with_tokens(scratch, gguf.LlamaFileType.ALL_F32, HERE / f"{name}.gguf", eager=True,
                        model_name=name)
    model.write()


def add_tokens(model, config):
    writer = model.gguf_writer
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    if config["model_type"] == "gpt2":  # the converter takes it for granted
        key = gguf.Keys.LLM.FEED_FORWARD_LENGTH.format(arch="gpt2")
        writer.kv_data[0][key].value = config["n_inner"]


for name in sys.argv[2:] or CONVERTERS:
    with tempfile.TemporaryDirectory() as scratch:
        convert(name, CONVERTERS[name], pathlib.Path(scratch))
