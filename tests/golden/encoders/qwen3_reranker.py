#!/usr/bin/env python3
"""Makes qwen3-reranker/: the tokenizer of a Qwen3-Reranker for the weights of rerank-qwen3, and what the code of the
model card makes of a query and documents: the tokens of the first prompt and the scores.

    python3 -m venv venv
    venv/bin/pip install torch transformers
    venv/bin/python tests/golden/encoders/qwen3_reranker.py
"""
import json
import pathlib

import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
BASE = HERE / "rerank-qwen3"
FOLDER = HERE / "qwen3-reranker"
EXPECTED = json.loads((BASE / "expected.json").read_text())
QUERY, DOCUMENTS = EXPECTED["query"], EXPECTED["documents"] + ["two\n\nlines "]
DEFAULT = "Given a web search query, retrieve relevant passages that answer the query"
OTHER = "Does it answer?"
PREFIX = ("<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
          'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n')
SUFFIX = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


def make_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([PREFIX, SUFFIX, DEFAULT, "yes yes no no <Document>"] * 9, trainers.BpeTrainer(
        vocab_size=330, special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")


def prompt(tokenizer, instruction, document):
    """The parts are tokenized apart."""
    ids = lambda text: tokenizer(text, add_special_tokens=False)["input_ids"]
    body = f"<Instruct>: {instruction}\n<Query>: {QUERY}\n<Document>: {document}"
    return ids(PREFIX) + ids(body) + ids(SUFFIX)


def scores(model, tokenizer, instruction):
    answers = [tokenizer.convert_tokens_to_ids(text) for text in ("no", "yes")]
    found = []
    for document in DOCUMENTS:
        with torch.no_grad():
            logits = model(torch.tensor([prompt(tokenizer, instruction, document)])).logits[0, -1, answers]
        found.append(round(float(torch.nn.functional.log_softmax(logits, dim=0)[1].exp()), 7))
    return found


FOLDER.mkdir(exist_ok=True)
tokenizer = make_tokenizer()
tokenizer.save_pretrained(FOLDER)
config = hf.AutoConfig.from_pretrained(BASE, max_position_embeddings=600, attn_implementation="eager")
model = hf.AutoModelForCausalLM.from_pretrained(BASE, config=config).eval()
(FOLDER / "expected.json").write_text(json.dumps({
    "query": QUERY, "documents": DOCUMENTS, "scores": scores(model, tokenizer, DEFAULT), "instruction": OTHER,
    "instructed": scores(model, tokenizer, OTHER),
    "tokens": [len(prompt(tokenizer, DEFAULT, document)) for document in DOCUMENTS]}, indent=1) + "\n")
