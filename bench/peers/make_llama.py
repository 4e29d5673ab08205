"""Writes a GGUF file of a Llama's shape with random weights, all matrices of one type.

    make_llama.py smollm2|1.1b q4_0|q8_0|bf16 OUT.gguf
"""
import sys

import gguf
import numpy

SHAPES = {
    "smollm2": dict(layers=30, width=576, heads=9, kv_heads=3, hidden=1536, vocabulary=49152,
                    tied=True, context=8192),
    "1.1b": dict(layers=22, width=2048, heads=32, kv_heads=4, hidden=5632, vocabulary=32000,
                 tied=False, context=8192),
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


def describe(writer, shape):
    writer.add_context_length(shape["context"])
    writer.add_embedding_length(shape["width"])
    writer.add_block_count(shape["layers"])
    writer.add_feed_forward_length(shape["hidden"])
    writer.add_head_count(shape["heads"])
    writer.add_head_count_kv(shape["kv_heads"])
    writer.add_rope_dimension_count(shape["width"] // shape["heads"])
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(shape["vocabulary"])
    writer.add_tokenizer_model("none")


def add_weights(writer, shape, kind):
    width, hidden = shape["width"], shape["hidden"]
    kv_width = width // shape["heads"] * shape["kv_heads"]

    def add(name, rows, cols):
        writer.add_tensor(f"{name}.weight", matrix(rows, cols, kind), raw_dtype=TYPES[kind])

    def add_norm(name):
        writer.add_tensor(f"{name}.weight", numpy.ones(width, numpy.float32))
    add("token_embd", shape["vocabulary"], width)
    for layer in range(shape["layers"]):
        name = f"blk.{layer}"
        add_norm(f"{name}.attn_norm")
        add(f"{name}.attn_q", width, width)
        add(f"{name}.attn_k", kv_width, width)
        add(f"{name}.attn_v", kv_width, width)
        add(f"{name}.attn_output", width, width)
        add_norm(f"{name}.ffn_norm")
        add(f"{name}.ffn_gate", hidden, width)
        add(f"{name}.ffn_up", hidden, width)
        add(f"{name}.ffn_down", width, hidden)
    add_norm("output_norm")
    if not shape["tied"]:
        add("output", shape["vocabulary"], width)


def main():
    shape, kind, path = sys.argv[1:]
    writer = gguf.GGUFWriter(path, "llama")
    describe(writer, SHAPES[shape])
    add_weights(writer, SHAPES[shape], kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
