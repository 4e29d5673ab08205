"""Writes a GGUF file in another of llama.cpp's types.

    requantise.py IN.gguf q4_k_m|q5_k_m|q6_k OUT.gguf
"""
import os
import sys

import llama_cpp

TYPES = {"q4_k_m": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_K_M,
         "q5_k_m": llama_cpp.LLAMA_FTYPE_MOSTLY_Q5_K_M, "q6_k": llama_cpp.LLAMA_FTYPE_MOSTLY_Q6_K}


def main():
    source, kind, out = sys.argv[1:]
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = TYPES[kind]
    parameters.allow_requantize = True
    parameters.nthread = os.cpu_count()
    if llama_cpp.llama_model_quantize(source.encode(), out.encode(), parameters) != 0:
        sys.exit(f"llama.cpp cannot write {out}")


main()
