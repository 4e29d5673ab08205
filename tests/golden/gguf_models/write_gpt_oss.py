#!/usr/bin/env python3
"""Writes gpt-oss.gguf with the tensors and the metadata that llama.cpp's converter writes for
../families/gpt-oss, in f32 and without a vocabulary.

    venv/bin/pip install gguf safetensors
    venv/bin/python tests/golden/gguf_models/write_gpt_oss.py
"""
import json
import pathlib

import gguf
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).parent
FOLDER = HERE.parent / "families" / "gpt-oss"
config = json.loads((FOLDER / "config.json").read_text())
names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.GPT_OSS, config["num_hidden_layers"])
writer = gguf.GGUFWriter(HERE / "gpt-oss.gguf", "gpt-oss")
writer.add_name("gpt-oss")
writer.add_file_type(gguf.LlamaFileType.ALL_F32)
writer.add_block_count(config["num_hidden_layers"])
writer.add_context_length(config["max_position_embeddings"])
writer.add_embedding_length(config["hidden_size"])
writer.add_feed_forward_length(config["intermediate_size"])
writer.add_head_count(config["num_attention_heads"])
writer.add_head_count_kv(config["num_key_value_heads"])
writer.add_key_length(config["head_dim"])
writer.add_value_length(config["head_dim"])
writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
writer.add_sliding_window(config["sliding_window"])
writer.add_expert_count(config["num_local_experts"])
writer.add_expert_used_count(config["num_experts_per_tok"])
writer.add_expert_feed_forward_length(config["intermediate_size"])
rope = config["rope_parameters"]
writer.add_rope_freq_base(rope["rope_theta"])
writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
writer.add_rope_scaling_factor(rope["factor"])
writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
writer.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
writer.add_rope_scaling_yarn_beta_slow(rope["beta_slow"])
writer.add_bos_token_id(config["bos_token_id"])
writer.add_eos_token_id(config["eos_token_id"])


def add(name, tensor):
    writer.add_tensor(names.get_name(name, try_suffixes=(".weight", ".bias")), tensor.copy())


for name, tensor in sorted(load_file(FOLDER / "model.safetensors").items()):
    suffix = ".bias" if name.endswith("_bias") else ".weight"
    stem = name.removesuffix("_bias")
    if stem.endswith(("gate_up_proj", "down_proj")):
        tensor = tensor if suffix == ".bias" else tensor.swapaxes(1, 2)
    if stem.endswith("gate_up_proj"):
        add(stem.replace("gate_up", "gate") + suffix, tensor[:, ::2])
        add(stem.replace("gate_up", "up") + suffix, tensor[:, 1::2])
    elif stem.endswith("experts.down_proj") or name.endswith("sinks"):
        add(stem + suffix, tensor)
    else:
        add(name, tensor)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
