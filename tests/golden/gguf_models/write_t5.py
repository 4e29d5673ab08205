#!/usr/bin/env python3
"""Writes t5.gguf, t5-v1.1.gguf and t5-encoder.gguf with the tensors and the metadata that
llama.cpp's converter writes for ../families/t5 and t5-v1.1, in f32, and ../tokenizers/t5.model as
its vocabulary.

    venv/bin/pip install gguf safetensors sentencepiece protobuf
    venv/bin/python tests/golden/gguf_models/write_t5.py
"""
import json
import pathlib

import gguf
from safetensors.numpy import load_file
from sentencepiece.sentencepiece_model_pb2 import ModelProto

HERE = pathlib.Path(__file__).parent


def write(file, arch, folder):
    folder = HERE.parent / "families" / folder
    config = json.loads((folder / "config.json").read_text())
    decoder = arch == gguf.MODEL_ARCH.T5
    layers = max(config["num_layers"], config["num_decoder_layers"])
    names = gguf.get_tensor_name_map(arch, layers)
    writer = gguf.GGUFWriter(HERE / file, gguf.MODEL_ARCH_NAMES[arch])
    writer.add_context_length(512)
    writer.add_embedding_length(config["d_model"])
    writer.add_feed_forward_length(config["d_ff"])
    writer.add_block_count(config["num_layers"])
    if decoder:
        writer.add_decoder_block_count(config["num_decoder_layers"])
        writer.add_decoder_start_token_id(config["decoder_start_token_id"])
    writer.add_head_count(config["num_heads"])
    writer.add_key_length(config["d_kv"])
    writer.add_value_length(config["d_kv"])
    writer.add_layer_norm_eps(config["layer_norm_epsilon"])
    writer.add_layer_norm_rms_eps(config["layer_norm_epsilon"])
    writer.add_relative_attn_buckets_count(config["relative_attention_num_buckets"])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    for name, tensor in load_file(folder / "model.safetensors").items():
        if decoder or name.startswith(("encoder.", "shared.")):
            writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_vocabulary(file):
    spm = ModelProto.FromString((HERE.parent / "tokenizers" / "t5.model").read_bytes())
    writer = gguf.GGUFWriter(HERE / file, "t5")
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    padding = [f"[PAD{i}]" for i in range(5)]
    writer.add_token_list([p.piece for p in spm.pieces] + padding)
    writer.add_token_scores([p.score for p in spm.pieces] + [-10000.0] * len(padding))
    writer.add_token_types([p.type for p in spm.pieces] + [5] * len(padding))
    writer.add_add_space_prefix(spm.normalizer_spec.add_dummy_prefix)
    writer.add_remove_extra_whitespaces(spm.normalizer_spec.remove_extra_whitespaces)
    writer.add_precompiled_charsmap(spm.normalizer_spec.precompiled_charsmap)
    texts = [p.piece for p in spm.pieces]
    writer.add_eos_token_id(texts.index("</s>"))
    writer.add_unk_token_id(texts.index("<unk>"))
    writer.add_pad_token_id(texts.index("<pad>"))
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(True)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


write_vocabulary("t5-vocabulary.gguf")
write("t5.gguf", gguf.MODEL_ARCH.T5, "t5")
write("t5-v1.1.gguf", gguf.MODEL_ARCH.T5, "t5-v1.1")
write("t5-encoder.gguf", gguf.MODEL_ARCH.T5ENCODER, "t5")
