#!/usr/bin/env python3
"""Compares heed with llama.cpp on the golden GGUF files, which cover every architecture.

llama.cpp opens each file of tests/golden/gguf_models, and both programs compute from the same
tokens, in f32:

- decoders: logits of all positions;
- encoder-decoders: logits of the decoder after the encoder has read a source;
- encoders: embeddings, after both have turned the same texts into the same tokens;
- a reranker: the scores of pairs.

    python3 -m venv venv && venv/bin/pip install llama-cpp-python gguf numpy
    venv/bin/python tests/judges/gguf_types/architectures.py build/release/heed [FILE.gguf ...]

Prints, for each file, the largest difference of a number, the largest number, and the least cosine
of two rows. Exits with 1 if a cosine is below 0.99999 (llama.cpp's GELU reads a table of f16), or
below 0.999 for a file in MXFP4 (llama.cpp quantises activations). Files without a vocabulary, which llama.cpp does not open, are judged as copies that have one.

Where llama.cpp is known to compute something else than transformers (KNOWN; README.md explains
it), a copy without the cause is judged, and the cosine of the file itself is printed. Each file has
a process of its own, since llama.cpp may abort; a file that it cannot open is printed as such.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy as np

import llama

GOLDEN = pathlib.Path(__file__).parents[2] / "golden"
MIN_COSINE = 0.99999
# llama.cpp quantises what it multiplies with blocks.
MIN_COSINE_OF_BLOCKS = 0.999
TEXTS = ["A cat sits on the warm stove.", "taxes",
         "Ada Lovelace met Charles."]  # the contexts are short
ENCODERS = ("bert", "nomic-bert", "modern-bert", "t5encoder")
CONTROL, NORMAL, UNKNOWN = 3, 1, 2

# Files for which llama.cpp differs from transformers: the metadata of a copy (None: without the key)
# for which the two agree.
KNOWN = {
    "phi3": {"phi3.attention.sliding_window": 0},
    "phi3-longrope": {"phi3.rope.scaling.original_context_length": 4096},
    "gpt-oss": {"gpt-oss.rope.scaling.type": None, "gpt-oss.rope.scaling.factor": None},
    "deepseek-v3": {"deepseek2.attention.layer_norm_rms_epsilon": 1e-6},
    "deepseek-v2-group": {"deepseek2.attention.layer_norm_rms_epsilon": 1e-6,
                          "deepseek2.rope.scaling.yarn_beta_fast": 32.0,
                          "deepseek2.expert_group_count": None,
                          "deepseek2.expert_group_used_count": None},
}
# llama.cpp cannot open these.
REFUSED = ("t5", "t5-v1.1")


def value_of(field):
    return field.contents()


def copy_of(reader, target, changes, extra=lambda writer: None):
    """The file with other values of some metadata, and with more."""
    architecture = value_of(reader.fields["general.architecture"])
    writer = gguf.GGUFWriter(target, architecture)
    for key, field in reader.fields.items():
        value = changes.get(key, value_of(field))
        if key.startswith("GGUF.") or key == "general.architecture" or value is None:
            continue
        kind = field.types[0]
        sub_type = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, value, kind, sub_type=sub_type)
    extra(writer)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def opened(file, folder):
    """The path of the file, or of a copy with a vocabulary."""
    reader = gguf.GGUFReader(file)
    if "tokenizer.ggml.model" in reader.fields:
        return file
    architecture = value_of(reader.fields["general.architecture"])
    size = next(t for t in reader.tensors if t.name == "token_embd.weight").data.shape[0]

    def add_dummies(writer):
        writer.add_tokenizer_model("no_vocab")
        writer.add_vocab_size(size)

    def add_words(writer):
        writer.add_tokenizer_model("t5")
        writer.add_tokenizer_pre("default")
        writer.add_add_space_prefix(True)
        writer.add_token_list(["<pad>", "</s>", "<unk>"] + [chr(0x2581) + chr(0x61 + i % 26) * (1 + i // 26)
                                                            for i in range(size - 3)])
        writer.add_token_scores([0.0] * 3 + [-1.0] * (size - 3))
        writer.add_token_types([CONTROL, CONTROL, UNKNOWN] + [NORMAL] * (size - 3))

    target = pathlib.Path(folder) / pathlib.Path(file).name
    copy_of(reader, target, {}, add_words if architecture.startswith("t5") else add_dummies)
    return target


def heed(program, *arguments, text=None):
    result = subprocess.run([program, *map(str, arguments)], input=text, capture_output=True,
                            text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return result.stdout


def listed(tokens):
    return ",".join(map(str, tokens))


def logits(program, file, tokens, source):
    options = ["--source-tokens", listed(source)] if source else []
    found = json.loads(heed(program, "logits", "--model", file, "--compute", "f32", "--tokens",
                            listed(tokens), *options))
    return np.array(found["logits"])


def compare_decoder(program, file, architecture):
    model = llama.Model(file)
    random = np.random.default_rng(5)
    size = model.vocab_size()
    source = list(random.integers(3, size, 9)) if architecture == "t5" else None
    tokens = list(random.integers(0, size, 20))
    if source:
        tokens[0] = 0
    return logits(program, file, tokens, source), model.logits(tokens, source)


def compare_encoder(program, file, pooling, texts):
    model = llama.Model(file, pooling)
    encoded = [[int(t) for t in line.split()] for line in
               heed(program, "tokenizer", "encode", "--model", file, "--special",
                    text="\n".join(texts) + "\n").splitlines()]
    for text, tokens in zip(texts, encoded):
        if tokens != model.tokens(text):
            sys.exit(f"{file}: the tokens of {text!r} are {tokens} and {model.tokens(text)}")
    found = [json.loads(line)["embedding"] for line in
             heed(program, "embed", "--model", file, "--no-normalize", text="\n".join(texts) + "\n")
             .splitlines()]
    return np.array(found), np.array([model.embedding(tokens) for tokens in encoded])


def compare_reranker(program, file):
    """The scores of the pairs whose tokens make_encoders.py has recorded."""
    model = llama.Model(file, llama.RANK)
    golden = json.loads((GOLDEN / "gguf_models" / "scores.json").read_text())
    pairs = golden["rerank"]
    ranked = heed(program, "rerank", "--model", file, "--query", golden["query"], "--json",
                  text="\n".join(pair["text"] for pair in pairs) + "\n").splitlines()
    scores = {line["index"]: line["score"] for line in map(json.loads, ranked)}
    return (np.array([[scores[i] for i in range(len(pairs))]]),
            np.array([[model.embedding(pair["tokens"])[0] for pair in pairs]]))


def compare(program, file, folder):
    reader = gguf.GGUFReader(file)
    architecture = value_of(reader.fields["general.architecture"])
    file = opened(file, folder)
    if any(t.name == "cls.output.weight" for t in reader.tensors):
        return compare_reranker(program, file)
    if architecture not in ENCODERS:
        return compare_decoder(program, file, architecture)
    key = f"{architecture}.pooling_type"
    pooling = value_of(reader.fields[key]) if key in reader.fields else llama.MEAN
    texts = ["a b c d", "zz b"] if architecture == "t5encoder" else TEXTS
    return compare_encoder(program, file, pooling, texts)


def cosine(a, b):
    return min(float(np.dot(x, y) / np.linalg.norm(x) / np.linalg.norm(y)) for x, y in zip(a, b))


def judge(program, file, changes):
    """Prints the line of one file, or of its copy with these changes, and returns whether it agrees."""
    with tempfile.TemporaryDirectory() as folder:
        name = file.stem
        if changes:
            copy = pathlib.Path(folder) / "changed" / file.name
            copy.parent.mkdir()
            copy_of(gguf.GGUFReader(file), copy, changes)
            file = copy
        found, expected = compare(program, file, folder)
    least = cosine(found, expected)
    print(f"{name:24} {np.abs(found - expected).max():10.2e} {np.abs(expected).max():9.3f}"
          f"   {least:.9f}{'   without the known cause' if changes else ''}", flush=True)
    return least >= (MIN_COSINE_OF_BLOCKS if name == "mxfp4" else MIN_COSINE)


def judged(program, file, changes):
    """judge() in a process of its own; None: it printed no result."""
    result = subprocess.run([sys.executable, __file__, program, "--one", file, json.dumps(changes)],
                            capture_output=True, text=True)
    line = next((line for line in result.stdout.splitlines() if line.startswith(file.stem)), None)
    if line is None:
        why = (result.stderr.strip() or f"status {result.returncode}").splitlines()[-1]
        print(f"{file.stem:24} no result: {why}", flush=True)
        return None
    print(line, flush=True)
    return result.returncode == 0


def agrees(program, file):
    result = judged(program, file, {})
    if file.stem in REFUSED:
        return result is not False  # opened by a newer llama.cpp, it has to agree
    if file.stem in KNOWN and not result:
        result = judged(program, file, KNOWN[file.stem])
    return bool(result)


def main():
    program = sys.argv[1]
    if sys.argv[2:3] == ["--one"]:
        sys.exit(not judge(program, pathlib.Path(sys.argv[3]), json.loads(sys.argv[4])))
    files = sys.argv[2:] or sorted((GOLDEN / "gguf_models").glob("*.gguf"))
    failed = []
    print("file                     difference   largest   cosine")
    for file in map(pathlib.Path, files):
        if file.stem == "classify" or not gguf.GGUFReader(file).tensors:
            continue  # compared by heed's tests; a vocabulary alone
        if not agrees(program, file):
            failed.append(file.stem)
    if failed:
        sys.exit("these differ: " + ", ".join(failed))


if __name__ == "__main__":
    main()
