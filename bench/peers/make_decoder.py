"""Writes a GGUF file of a decoder with random weights, all matrices of one type: of SmolLM2-135M's
shape, of TinyLlama's (1.1b), or of Qwen3-30B-A3B's made smaller (moe-2b: 128 experts, 8 a token).

    make_decoder.py smollm2|1.1b|moe-2b q4_0|q8_0|bf16 OUT.gguf
"""
import sys

import gguf
import numpy

SHAPES = {
    "smollm2": dict(layers=30, width=576, heads=9, kv_heads=3, hidden=1536, vocabulary=49152,
                    tied=True, context=8192),
    "1.1b": dict(layers=22, width=2048, heads=32, kv_heads=4, hidden=5632, vocabulary=32000,
                 tied=False, context=8192),
    "moe-2b": dict(layers=9, width=1024, heads=16, kv_heads=4, head_dim=128, hidden=512,
                   experts=128, used=8, vocabulary=151936, tied=True, context=8192),
}
TYPES = {"q4_0": gguf.GGMLQuantizationType.Q4_0, "q8_0": gguf.GGMLQuantizationType.Q8_0,
         "bf16": gguf.GGMLQuantizationType.BF16}
DEVIATION = 0.02  # of the weights
BLOCK = 32

random = numpy.random.default_rng(1)


def matrix(rows, cols, kind):
    """The bytes of random weights; each row of the array is a row in the file."""
    bytes_ = numpy.frombuffer(random.bytes(rows * cols), numpy.uint8).reshape(rows, cols)
    if kind == "bf16":
        values = bytes_.view(numpy.int8).astype(numpy.float32) * numpy.float32(DEVIATION / 73.9)
        return (values.view(numpy.uint32) >> 16).astype(numpy.uint16).view(numpy.uint8)
    if kind == "q8_0":
        quants, scale = numpy.maximum(bytes_.view(numpy.int8), -127).view(numpy.uint8), 73.9
    else:
        quants, scale = bytes_[:, : cols // 2], 4.6
    quants = quants.reshape(rows, cols // BLOCK, -1)
    scales = numpy.full((rows, cols // BLOCK, 1), DEVIATION / scale, numpy.float16)
    return numpy.concatenate([scales.view(numpy.uint8), quants], axis=2).reshape(rows, -1)


def head_dim(shape):
    return shape.get("head_dim", shape["width"] // shape["heads"])


def describe(writer, shape):
    writer.add_context_length(shape["context"])
    writer.add_embedding_length(shape["width"])
    writer.add_block_count(shape["layers"])
    writer.add_feed_forward_length(shape["hidden"])
    writer.add_head_count(shape["heads"])
    writer.add_head_count_kv(shape["kv_heads"])
    writer.add_rope_dimension_count(head_dim(shape))
    if "experts" in shape:
        writer.add_key_length(head_dim(shape))
        writer.add_value_length(head_dim(shape))
        writer.add_expert_count(shape["experts"])
        writer.add_expert_used_count(shape["used"])
        writer.add_expert_feed_forward_length(shape["hidden"])
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(shape["vocabulary"])
    writer.add_tokenizer_model("none")


def add_weights(writer, shape, kind):
    width, hidden = shape["width"], shape["hidden"]
    q_width, kv_width = (head_dim(shape) * shape[heads] for heads in ("heads", "kv_heads"))
    experts = shape.get("experts")

    def add(name, rows, cols, count=None):
        data = matrix(rows * (count or 1), cols, kind)
        writer.add_tensor(f"{name}.weight", data.reshape(count, rows, -1) if count else data,
                          raw_dtype=TYPES[kind])

    def add_norm(name, size=width):
        writer.add_tensor(f"{name}.weight", numpy.ones(size, numpy.float32))
    add("token_embd", shape["vocabulary"], width)
    for layer in range(shape["layers"]):
        name = f"blk.{layer}"
        add_norm(f"{name}.attn_norm")
        add(f"{name}.attn_q", q_width, width)
        add(f"{name}.attn_k", kv_width, width)
        add(f"{name}.attn_v", kv_width, width)
        add(f"{name}.attn_output", width, q_width)
        add_norm(f"{name}.ffn_norm")
        many = "_exps" if experts else ""
        add(f"{name}.ffn_gate{many}", hidden, width, experts)
        add(f"{name}.ffn_up{many}", hidden, width, experts)
        add(f"{name}.ffn_down{many}", width, hidden, experts)
        if experts:
            add_norm(f"{name}.attn_q_norm", head_dim(shape))
            add_norm(f"{name}.attn_k_norm", head_dim(shape))
            routing = random.standard_normal((experts, width), numpy.float32)
            writer.add_tensor(f"{name}.ffn_gate_inp.weight", routing * numpy.float32(DEVIATION))
    add_norm("output_norm")
    if not shape["tied"]:
        add("output", shape["vocabulary"], width)


def main():
    name, kind, path = sys.argv[1:]
    shape = SHAPES[name]
    writer = gguf.GGUFWriter(path, "qwen3moe" if "experts" in shape else "llama")
    describe(writer, shape)
    add_weights(writer, shape, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
