#!/usr/bin/env python3
"""Writes mxfp4.gguf: a random mixture of experts that llama.cpp has quantised to MXFP4, with its
other matrices in Q8_0; and mxfp4.safetensors: the values of its tensors as the gguf package reads
them, and the logits that llama.cpp computes for "tokens".

    venv/bin/pip install gguf safetensors llama-cpp-python
    venv/bin/python tests/golden/gguf_models/write_mxfp4.py
"""
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "judges" / "gguf_types"))

import gguf
import llama
import llama_cpp
import numpy as np
from safetensors.numpy import save_file

VOCABULARY, D, F, EXPERTS, HEADS, WIDTH = 32, 32, 32, 4, 2, 32
random = np.random.default_rng(3)


def matrix(*shape):
    return (random.standard_normal(shape) * shape[-1] ** -0.5).astype(np.float32)


def norm(size):
    return (1 + 0.1 * random.standard_normal(size)).astype(np.float32)


def tensors():
    yield "token_embd.weight", matrix(VOCABULARY, D)
    yield "output_norm.weight", norm(D)
    yield "output.weight", matrix(VOCABULARY, D) * 4
    for name, rows in (("q", HEADS), ("k", 1), ("v", 1)):
        yield f"blk.0.attn_{name}.weight", matrix(rows * WIDTH, D)
    yield "blk.0.attn_output.weight", matrix(D, HEADS * WIDTH)
    for name, size in (("attn", D), ("attn_q", WIDTH), ("attn_k", WIDTH), ("ffn", D)):
        yield f"blk.0.{name}_norm.weight", norm(size)
    yield "blk.0.ffn_gate_inp.weight", matrix(EXPERTS, D)
    yield "blk.0.ffn_gate_exps.weight", matrix(EXPERTS, F, D)
    yield "blk.0.ffn_up_exps.weight", matrix(EXPERTS, F, D)
    yield "blk.0.ffn_down_exps.weight", matrix(EXPERTS, D, F)


def write(path):
    writer = gguf.GGUFWriter(path, "qwen3moe")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(D)
    writer.add_feed_forward_length(F)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(1)
    writer.add_key_length(WIDTH)
    writer.add_value_length(WIDTH)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    writer.add_expert_count(EXPERTS)
    writer.add_expert_used_count(2)
    writer.add_expert_feed_forward_length(F)
    writer.add_tokenizer_model("no_vocab")
    writer.add_vocab_size(VOCABULARY)
    for name, tensor in tensors():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def quantise(source, target):
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = llama_cpp.LLAMA_FTYPE_MOSTLY_MXFP4_MOE
    parameters.nthread = 1
    if llama_cpp.llama_model_quantize(source.encode(), str(target).encode(), parameters):
        sys.exit(f"llama.cpp cannot write {target}")


file = HERE / "mxfp4.gguf"
with tempfile.TemporaryDirectory() as folder:
    write(f"{folder}/f32.gguf")
    quantise(f"{folder}/f32.gguf", file)
reader = gguf.GGUFReader(file)
assert any(t.tensor_type == gguf.GGMLQuantizationType.MXFP4 for t in reader.tensors)
expected = {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
            for t in reader.tensors}
tokens = random.integers(0, VOCABULARY, 12).astype(np.int32)
expected |= dict(tokens=tokens, logits=llama.Model(file).logits(list(tokens)).astype(np.float32))
save_file(expected, HERE / "mxfp4.safetensors")
