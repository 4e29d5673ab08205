#!/usr/bin/env python3
"""Writes the models of this folder: tiny Transformers in Marian's own files, trained for a few updates by
pymarian 1.12.42, and what pymarian translates with them (expected.json). Training is not exactly repeatable;
the files are kept as they came. Of a pre-norm model only the first token of a greedy translation is as
trained: for later ones Marian's decoder takes keys and values of the tokens before without their norm, which its
training has.

    pip install pymarian==1.12.42
    make.py            # trains and translates
    make.py --again    # translates with the models that are there
"""
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PIECES = HERE.parent / "sentencepiece/bpe.model"
LINES = ["the old sailor forgot the sea", "a ship went out", "in the old sea", "the ship forgot", "sailor"]
WORDS = "the old sailor forgot sea a ship went out in".split()

POST = ("--transformer-postprocess dan --transformer-postprocess-emb d --transformer-ffn-activation swish "
        "--tied-embeddings-all")
PRE = ("--transformer-preprocess n --transformer-postprocess da --transformer-postprocess-top n "
       "--transformer-ffn-activation relu --tied-embeddings")
MODELS = {"post": POST, "pre": PRE}


def write_text(folder):
    """Words in another order, so that there is something to learn."""
    source, target = folder / "t.src", folder / "t.trg"
    lines = []
    for i in range(400):
        count = 2 + i % 5
        lines.append([WORDS[(i * 7 + k * k + k * i) % len(WORDS)] for k in range(count)])
    source.write_text("".join(" ".join(line) + "\n" for line in lines))
    target.write_text("".join(" ".join(reversed(line)) + "\n" for line in lines))


def train(name, options):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    work = folder / "work"
    work.mkdir()
    write_text(work)
    shutil.copy(PIECES, work / "vocab.spm")
    common = ("--type transformer --train-sets t.src t.trg --vocabs vocab.spm vocab.spm --dim-emb 16 --enc-depth 2 "
              "--dec-depth 1 --transformer-heads 2 --transformer-dim-ffn 24 --cpu-threads 1 --mini-batch 40 "
              "--after-batches 150 --max-length 50 --learn-rate 0.01 --seed 3 --workspace 100 --model model.npz")
    subprocess.run([sys.executable, "-c", "import sys, pymarian; pymarian.Trainer(sys.argv[1]).train()",
                    f"{common} {options}"], cwd=work, check=True)
    shutil.copy(work / "model.npz", folder)
    shutil.copy(PIECES, folder / "vocab.spm")
    (folder / "decoder.yml").write_text("relative-paths: true\nmodels:\n  - model.npz\nvocabs:\n  - vocab.spm\n"
                                        "  - vocab.spm\nbeam-size: 4\nnormalize: 0\nword-penalty: 0\n")
    shutil.rmtree(work)


def translate(name):
    """Greedy and with a beam; n-best lists have the log-probability of a whole translation."""
    folder = HERE / name
    program = ("import sys, pymarian; print('\\n@\\n'.join("
               "pymarian.Translator(sys.argv[1]).translate(sys.argv[2].split('|'))))")
    found = {}
    for beam in (1, 4):
        options = (f"--models model.npz --vocabs vocab.spm vocab.spm --beam-size {beam} --n-best --cpu-threads 1 "
                   "--normalize 0 --max-length-factor 12 --quiet --workspace 100 "
                   "--word-scores")
        output = subprocess.run([sys.executable, "-c", program, options, "|".join(LINES)], cwd=folder, check=True,
                                capture_output=True, text=True).stdout
        best = {}
        for line in output.replace("\n@\n", "\n").splitlines():
            if " ||| " in line:
                number, text, words, _, score = line.split(" ||| ")
                best.setdefault(int(number), {"text": text.strip(), "log_probability": float(score),
                                              "first_token": float(words.split()[1])})
        found[beam] = [best[i] for i in range(len(LINES))]
    return found


for name, options in MODELS.items():
    if "--again" not in sys.argv:
        train(name, options)
    found = translate(name)
    (HERE / name / "expected.json").write_text(json.dumps(
        {"lines": LINES, **{f"beam_{beam}": of for beam, of in found.items()}}, indent=1) + "\n")
    for beam, of in found.items():
        print(name, beam, of)
