#!/usr/bin/env python3
"""Every function of the C API with NULL, handles that are freed, made up or of another type, and sizes
near 2^63: it returns an error, and the process lives.

    hostile_test.py LIBRARY     the functions are those of src/capi/abi.txt
"""
import ctypes
import os
import pathlib
import random
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORD = (ROOT / "src/capi/abi.txt").read_text()
HANDLES = set(re.findall(r"^typedef struct (heed_\w+) \1;$", RECORD, re.MULTILINE))
OK = 0
SIZES = [0, 1, 2**63 - 1, 2**63, 2**64 - 1]
INTEGERS = [0, -1, 2**31 - 1, -2**31]
CALLS = 2000  # of each function
MODEL = ROOT / "tests/golden/encoders/classify"
TOKENIZER = ROOT / "tests/golden/tokenizers/qwen2.json"


def functions():
    """(name, [(type, parameter name)]) of each function."""
    for name, parameters in re.findall(r"^heed_status (heed_\w+)\((.*)\);$", RECORD, re.MULTILINE):
        yield name, [re.fullmatch(r"(.*?)(\w+)", one.strip()).groups() for one in parameters.split(",")]


def is_handle(kind):
    return re.fullmatch(r"(heed_\w+)\*", kind.strip()) and kind.strip()[:-1] in HANDLES


class Hostile:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.zeros = ctypes.create_string_buffer(1 << 16)
        executor = ctypes.c_void_p()
        assert self.library.heed_executor_create(1, ctypes.byref(executor), None) == OK
        self.executor = executor.value  # of another type than most functions want
        freed = ctypes.c_void_p()
        assert self.library.heed_executor_create(1, ctypes.byref(freed), None) == OK
        assert self.library.heed_executor_free(freed, None) == OK
        self.handles = [None, freed.value, 1, 0xDEADBEEF, 2**64 - 1]
        self.valid = {}
        self.create("heed_model*", "heed_model_load", str(MODEL).encode(), None)
        self.create("heed_tokenizer*", "heed_tokenizer_load", str(TOKENIZER).encode())
        tokenizer = ctypes.c_void_p(self.valid["heed_tokenizer*"])
        self.create("heed_decode_stream*", "heed_decode_stream_create", tokenizer, 1)
        self.create("heed_chat_template*", "heed_chat_template_parse", String(b"{{ messages }}", 14), tokenizer)

    def create(self, kind, function, *arguments):
        """Makes a valid handle of a type."""
        handle = ctypes.c_void_p()
        assert getattr(self.library, function)(*arguments, ctypes.byref(handle), None) == OK
        self.valid[kind] = handle.value

    def value(self, kind, valid):
        """An argument of a type; the handle of a model or tokenizer is valid if it is to be."""
        kind = kind.strip()
        if valid and kind in self.valid:
            return ctypes.c_void_p(self.valid[kind])
        if is_handle(kind):
            others = [] if kind == "heed_executor*" else [self.executor]
            return ctypes.c_void_p(random.choice(self.handles + others))
        if kind == "heed_string":
            return String(None, random.choice(SIZES))
        if "*" in kind:
            return random.choice([ctypes.c_void_p(None), ctypes.cast(self.zeros, ctypes.c_void_p)])
        if kind.startswith("heed_on_"):
            return ctypes.c_void_p(None)
        if kind in ("size_t", "uint64_t"):
            return ctypes.c_uint64(random.choice(SIZES))
        if kind == "int64_t":
            return ctypes.c_int64(random.choice(SIZES) - 2**63)
        if kind in ("float", "double"):
            return ctypes.c_float(float("nan"))
        return ctypes.c_int32(random.choice(INTEGERS))


class String(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


def main():
    hostile = Hostile(sys.argv[1])
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)  # a tokenizer is saved into the directory ""
    random.seed(1)
    failures, count = set(), 0
    for name, parameters in functions():
        handles = [kind.strip() for kind, _ in parameters if is_handle(kind)]
        function = getattr(hostile.library, name)
        for call in range(CALLS):
            valid = call % 2 == 1 and not name.endswith("_free")
            ctypes.memset(hostile.zeros, 0, len(hostile.zeros))
            status = function(*(hostile.value(kind, valid) for kind, _ in parameters))
            count += 1
            invalid = handles and not (valid and any(kind in hostile.valid for kind in handles))
            if not 0 <= status <= 7 or invalid and status == OK:
                failures.add(f"{name} returned {status}")
    print("\n".join(sorted(failures)) or f"passed: {count} calls")
    sys.exit(1 if failures else 0)


main()
