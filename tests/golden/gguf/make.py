#!/usr/bin/env python3
"""Makes the reference files beside this one with the gguf package.

all_types.gguf: metadata of every type, and one small tensor of every type that heed reads and of one
that it does not. The tensors of blocks hold "f32" as the package quantises it; those of types that
it only reads are random.
expected.safetensors: name -> elements, as the package widens them.
tests/fuzz/all_types.gguf: the same with less data.

    python3 -m venv venv && venv/bin/pip install gguf safetensors numpy
    venv/bin/python tests/golden/gguf/make.py
"""
import pathlib

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent
ROWS, COLS = 3, 512


def numbers():
    """[ROWS, COLS], with what is hard to quantise."""
    rng = np.random.default_rng(2017)
    x = rng.normal(size=(ROWS, COLS)).astype(np.float32)
    x[1, :32] = 0
    x[1, 32:64] *= 1e-6
    x[2, 64:96] *= 1e3
    x[2, 97] = -x[2, 96]  # the same magnitude twice
    x[2, 96:98] *= 100
    x[0, :16] = np.arange(16) + 0.5  # ties in the rounding of Q8_0
    x[0, 16] = 127
    return x


# Where the blocks have scales of f16.
RANDOM = {Type.Q2_K: (80, 82), Type.Q3_K: (108,), Type.Q4_K: (0, 2), Type.Q5_K: (0, 2),
          Type.Q6_K: (208,), Type.IQ4_NL: (0,), Type.IQ4_XS: (0,), Type.MXFP4: ()}


def random_blocks(rng, type):
    elements, size = gguf.GGML_QUANT_SIZES[type]
    blocks = rng.integers(0, 256, size=(ROWS, COLS // elements, size), dtype=np.uint8)
    for at in RANDOM[type]:
        scales = rng.normal(size=(ROWS, COLS // elements, 1)).astype(np.float16) / 256
        blocks[:, :, at:at + 2] = scales.view(np.uint8)
    if type == Type.MXFP4:  # the exponent; 0 and 1 are subnormal scales
        blocks[:, :, 0] = rng.choice([0, 1, 2, 120, 127, 130], size=blocks.shape[:2])
    return blocks.reshape(ROWS, -1)


def tensors(x):
    rng = np.random.default_rng(1706)
    yield "f32", x, Type.F32
    for type in (Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0):
        yield type.name.lower(), gguf.quants.quantize(x, type), type
    for type in RANDOM:
        elements, size = gguf.GGML_QUANT_SIZES[type]
        yield (type.name.lower(),
               random_blocks(rng, type)[: len(x), : x.shape[1] // elements * size], type)
    yield "i32", np.array([2**31 - 1, -(2**31), 0], dtype=np.int32), Type.I32
    yield "three.axes", np.arange(24, dtype=np.float32).reshape(2, 3, 4), Type.F32
    yield "unusable", rng.integers(0, 256, size=(2, 66), dtype=np.uint8), Type.IQ2_XXS


def add_metadata(writer):
    writer.add_uint8("test.u8", 255)
    writer.add_int8("test.i8", -128)
    writer.add_uint16("test.u16", 65535)
    writer.add_int16("test.i16", -32768)
    writer.add_uint32("test.u32", 2**32 - 1)
    writer.add_int32("test.i32", -(2**31))
    writer.add_uint64("test.u64", 2**64 - 1)
    writer.add_int64("test.i64", -(2**63))
    writer.add_float32("test.f32", 0.1)
    writer.add_float64("test.f64", 0.1)
    writer.add_bool("test.yes", True)
    writer.add_bool("test.no", False)
    writer.add_string("test.string", "ünï")
    writer.add_array("test.integers", [1, -2, 3])
    writer.add_array("test.numbers", [0.5, -1.25])
    writer.add_array("test.booleans", [True, False, True])
    writer.add_array("tokenizer.ggml.tokens", ["<unk>", "\u2581the", "<0x0A>", ""])
    writer.add_array("test.nested", [[1, 2], [3]])


def write(path, tensors):
    writer = gguf.GGUFWriter(path, "test")
    add_metadata(writer)
    for name, data, type in tensors:
        raw = type not in (Type.F32, Type.I32)
        writer.add_tensor(name, data, raw_dtype=type if raw else None)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def widened(data, type):
    if type == Type.I32:
        return data
    return np.ascontiguousarray(gguf.quants.dequantize(data, type), np.float32)


def main():
    x = numbers()
    write(HERE / "all_types.gguf", tensors(x))
    expected = {name: widened(*stored) for name, *stored in tensors(x) if stored[1] != Type.IQ2_XXS}
    save_file(expected, HERE / "expected.safetensors")
    wide = [stored for stored in tensors(x[:1, :256])
            if stored[2] in (Type.Q4_K, Type.Q6_K, Type.I32)]
    narrow = [stored for stored in tensors(x[:1, :32])
              if stored[0] in ("f32", "q4_0", "q4_1", "q5_0", "q8_0", "three.axes")]
    write(HERE.parent.parent / "fuzz/all_types.gguf", wide + narrow)


if __name__ == "__main__":
    main()
