"""Flips every field of tokenizer_config.json, and of the files beside it, on the golden tokenizers, and
compares heed with transformers' AutoTokenizer: ids with and without special tokens, and decoded text.

    pip install transformers==5.24.* tokenizers==0.23.* sentencepiece==0.2.* protobuf
    python tests/judges/tokenizer_flips/flips.py build/release/heed [--seconds 600] [--only NAME]

Prints a line for each flip that is not the same:

    warned   heed gives other results, or ignores what transformers applies, and names the field
    refused  heed refuses the files, and names the field; or transformers refuses what heed reads
    FAIL     other results without a word

and the counts at the end. Exits with 1 if there is a FAIL.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3] / "tests/golden"
LINES = ["the cat sat on the mat.", "The CAT, Café 北京 naïve", " leading  spaces ", "a <extra> b <s> c</s> d",
         "<mask> the [MASK] x<new>y", "do n't say ' it ' !", "<pad>[PAD]<|endoftext|> z"]

# Tokenizers and the classes that published files name for them.
GOLDEN = {
    "bert_uncased": ["BertTokenizer", "DistilBertTokenizerFast", "PreTrainedTokenizerFast"],
    "distilbert_cased": ["BertTokenizerFast", "TokenizersBackend"],
    "gpt2": ["GPT2Tokenizer", "PreTrainedTokenizerFast", "GPTNeoXTokenizer"],
    "roberta": ["RobertaTokenizer", "TokenizersBackend"],
    "bart": ["BartTokenizer", "TokenizersBackend"],
    "qwen2": ["Qwen2Tokenizer", "PreTrainedTokenizerFast"],
    "llama2": ["LlamaTokenizer", "TokenizersBackend"],
    "llama3": ["PreTrainedTokenizerFast", "LlamaTokenizerFast"],
    "gemma2": ["GemmaTokenizer"],
    "t5": ["T5Tokenizer", "TokenizersBackend"],
    "xlm_roberta": ["XLMRobertaTokenizer", "TokenizersBackend"],
    "deepseek_v3": ["LlamaTokenizerFast"],
    "mistral": ["LlamaTokenizer"],
}
DIRECTORIES = ["encoders/embed-bert", "encoders/embed-mpnet", "encoders/embed-roberta",
               "encoders/embed-xlm-roberta", "encoders/rerank"]

ADDED = {"content": "<extra>", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False,
         "special": False}
ABSENT = object()
FLIPS = {
    "do_lower_case": [True, False, None],
    "strip_accents": [True, False, None],
    "tokenize_chinese_chars": [True, False],
    "add_prefix_space": [True, False, None],
    "legacy": [True, False, None],
    "add_bos_token": [True, False],
    "add_eos_token": [True, False],
    "clean_up_tokenization_spaces": [True, False, None],
    "split_special_tokens": [True, False],
    "model_max_length": [4, 512],
    "padding_side": ["left", "right"],
    "truncation_side": ["left", "right"],
    "bos_token": ["<new>", "<s>", None],
    "eos_token": ["<new>", "</s>", None],
    "unk_token": ["<new>", "<unk>"],
    "sep_token": ["<new>", "</s>", "[MASK]"],
    "pad_token": ["<new>", "the", {"__type": "AddedToken", **ADDED}, None],
    "cls_token": ["<new>", "<s>"],
    "mask_token": ["<new>", "<mask>"],
    "additional_special_tokens": [["<new>"], ["<extra>", "<new>"], []],
    "extra_special_tokens": [["<new>"], {"image_token": "<new>"}],
    "image_token": ["<new>"],
    "added_tokens_decoder": [{}, {"3": ADDED}, {"60000": ADDED}],
    "tokenizer_class": [ABSENT, "PreTrainedTokenizerFast", "BertTokenizer", "GPT2TokenizerFast", "LlamaTokenizer"],
    "trim_offsets": [False],
    "errors": ["strict"],
    "use_fast": [False],
    "do_basic_tokenize": [False],
    "never_split": [["cat"]],
    "fold_case": [True],
    "chat_template": ["{{ messages }}"],
}
FILES = {
    "special_tokens_map.json": [{"pad_token": "<new>"}, {"additional_special_tokens": ["<new>"]},
                                {"unk_token": {**ADDED, "content": "<extra>"}}],
    "added_tokens.json": [{"<new>": 7000}, {"the": 5}],
    "config.json": [{"model_type": "bert"}, {"model_type": "gpt2"}, {"model_type": "llama"},
                    {"model_type": "roberta"}, {"model_type": "qwen2"}, {"model_type": "t5"}],
}


def run(heed, arguments, text):
    return subprocess.run([heed, "tokenizer", *arguments], input=text, capture_output=True, text=True, timeout=60)


class Judge:
    def __init__(self, heed):
        from transformers import AutoTokenizer
        from transformers.utils import logging
        logging.set_verbosity_error()
        self.heed, self.auto = heed, AutoTokenizer
        self.counts = collections.Counter()

    def reference(self, folder):
        tokenizer = self.auto.from_pretrained(folder)
        ids = [tokenizer(line, truncation=False)["input_ids"] for line in LINES]
        bare = [tokenizer(line, add_special_tokens=False, truncation=False)["input_ids"] for line in LINES]
        return ids, bare, [tokenizer.decode(line, skip_special_tokens=True) for line in bare]

    def own(self, folder):
        model, said = ["--model", folder], ""
        ids = []
        for special in (["--special"], []):
            done = run(self.heed, ["encode", *model, *special], "\n".join(LINES) + "\n")
            if done.returncode:
                return None, done.stderr.strip()
            said = done.stderr.strip()
            ids.append([[int(id) for id in line.split()] for line in done.stdout.split("\n")[:-1]])
        text = "\n".join(" ".join(map(str, line)) for line in ids[1]) + "\n"
        decoded = run(self.heed, ["decode", *model], text)
        return (ids[0], ids[1], decoded.stdout.split("\n")[:-1]), said

    def judge(self, name, folder, field, value):
        shown = "absent" if value is ABSENT else json.dumps(value, ensure_ascii=False)
        try:
            expected = self.reference(folder)
        except Exception as error:  # what transformers cannot read has no right answer
            self.count("refused", f"{name}: {field} = {shown}: transformers: {type(error).__name__}", quiet=True)
            return
        if not any(letter.isalpha() for letter in "".join(expected[2])):
            # It looked for the vocabulary of another class, found none, and knows no word.
            self.count("refused", f"{name}: {field} = {shown}: transformers has no vocabulary", quiet=True)
            return
        found, said = self.own(folder)
        named = field in said or (isinstance(value, dict) and any(key in said for key in value))
        if found is None:
            self.count("refused" if named else "FAIL", f"{name}: {field} = {shown}: {said[:200]}")
            return
        differs = [what for what, a, b in zip(("ids", "bare ids", "text"), expected, found) if list(a) != list(b)]
        if not differs:
            self.count("same", "", quiet=True)
            return
        place = next(i for i in range(len(LINES)) if any(list(a)[i] != list(b)[i] for a, b in zip(expected, found)))
        detail = "" if named else " | ".join(
            f"{list(a)[place]} heed {list(b)[place]}" for a, b in zip(expected, found) if list(a)[place] != list(b)[place])
        self.count("warned" if named else "FAIL",
                   f"{name}: {field} = {shown}: {', '.join(differs)} of {LINES[place]!r} differ {detail}"[:400])

    def count(self, outcome, line, quiet=False):
        self.counts[outcome] += 1
        if not quiet:
            print(f"{outcome:8}{line}", flush=True)


def cases():
    """Name, files, field and value of each flip; the files are those of a model directory."""
    for kind, names in GOLDEN.items():
        files = {"tokenizer.json": (ROOT / f"tokenizers/{kind}.json").read_text()}
        for name in names:
            yield from flips(f"{kind}/{name}", files, {"tokenizer_class": name}, {})
    for directory in DIRECTORIES:
        files = {}
        for file in ("tokenizer.json", "vocab.txt", "sentencepiece.bpe.model"):
            if (ROOT / directory / file).exists():
                files[file] = (ROOT / directory / file).read_bytes()
        config = json.loads((ROOT / directory / "tokenizer_config.json").read_text())
        model = json.loads((ROOT / directory / "config.json").read_text())
        yield from flips(directory, files, config, {"model_type": model["model_type"]})


def flips(name, files, config, model):
    yield name, {**files, "tokenizer_config.json": config, "config.json": model}, "nothing", None
    for field, values in FLIPS.items():
        for value in values:
            flipped = {key: own for key, own in config.items() if key != field}
            if value is not ABSENT:
                flipped[field] = value
            elif field not in config:
                continue
            yield name, {**files, "tokenizer_config.json": flipped, "config.json": model}, field, value
    for file, values in FILES.items():
        for value in values:
            own = {"tokenizer_config.json": config, "config.json": model}
            if file == "config.json":
                own["tokenizer_config.json"] = {k: v for k, v in config.items() if k != "tokenizer_class"}
            yield name, {**files, **own, file: value}, file, value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heed")
    parser.add_argument("--seconds", type=float, default=900, help="stop after this time")
    parser.add_argument("--only", default="", help="tokenizers whose name has this part")
    options = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    judge, end = Judge(options.heed), time.monotonic() + options.seconds
    left = 0
    for name, files, field, value in cases():
        if options.only not in name:
            continue
        if time.monotonic() > end:
            left += 1
            continue
        folder = tempfile.mkdtemp()
        for file, contents in files.items():
            path = pathlib.Path(folder) / file
            if isinstance(contents, dict):
                contents = json.dumps(contents)
            path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        judge.judge(name, folder, field, value)
        shutil.rmtree(folder)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(judge.counts.items())), f", {left} left out for time")
    sys.exit(1 if judge.counts["FAIL"] else 0)


if __name__ == "__main__":
    main()
