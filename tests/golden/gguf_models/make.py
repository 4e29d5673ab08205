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
from conversion.gemma import Gemma2Model, Gemma3Model, GemmaModel
from conversion.gpt2 import GPT2Model
from conversion.gptneox import GPTNeoXModel
from conversion.granite import GraniteModel
from conversion.llama import LlamaModel, SmolLM3Model
from conversion.olmo import Olmo2Model
from conversion.phi import Phi3MiniModel
from conversion.qwen import Qwen2Model, Qwen3Model, Qwen3MoeModel

HERE = pathlib.Path(__file__).parent
CONVERTERS = {"llama3": LlamaModel, "llama-bias": LlamaModel, "llama-yarn": LlamaModel,
              "qwen2": Qwen2Model, "qwen3": Qwen3Model, "gemma2": Gemma2Model, "gpt2": GPT2Model,
              "deepseek-v2-group": DeepseekV2Model, "gemma": GemmaModel, "gemma3": Gemma3Model,
              "granite": GraniteModel, "olmo2": Olmo2Model, "smollm3": SmolLM3Model,
              "qwen3-moe": Qwen3MoeModel, "mixtral": LlamaModel, "phi3": Phi3MiniModel,
              "phi3-longrope": Phi3MiniModel,
              "gpt-neox": GPTNeoXModel, "gpt-neox-sequential": GPTNeoXModel,
              "deepseek-v3": DeepseekV2Model}


def convert(name, converter, scratch):
    for file in ("config.json", "model.safetensors"):
        shutil.copy(HERE.parent / "families" / name / file, scratch)
    config = json.loads((scratch / "config.json").read_text())
    if "n_positions" in config:
        config["n_ctx"] = config["n_positions"]
    if config["model_type"] == "gpt_neox":
        config["rotary_pct"] = config["rope_parameters"]["partial_rotary_factor"]
    if config["model_type"] == "deepseek_v3":  # transformers 5 leaves it out
        config["scoring_func"] = "sigmoid"
    (scratch / "config.json").write_text(json.dumps(config))
    # Gemma 3's converter cuts the embedding after the last token.
    vocabulary = {str(token): token for token in range(config["vocab_size"])}
    (scratch / "tokenizer.json").write_text(
        json.dumps({"model": {"vocab": vocabulary}, "added_tokens": []}))
    with_tokens = type(converter.__name__, (converter,), {
        "model_arch": converter.model_arch, "set_vocab": lambda self: add_tokens(self, config)})
    # transformers would drop GPT-NeoX's rotary_pct, which the converter reads.
    hparams = config if config["model_type"] == "gpt_neox" else None
    model = with_tokens(scratch, gguf.LlamaFileType.ALL_F32, HERE / f"{name}.gguf", eager=True,
                        model_name=name, hparams=hparams)
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
