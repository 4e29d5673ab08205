#!/usr/bin/env python3
"""lm-eval's local-completions against heed serve, and its backend of transformers, without a network.

    pip install "lm_eval[api]==0.4.13" transformers torch accelerate
    tests/judges/serving/lm_eval_completions.py HEED

Runs tasks of each kind (multiple choice, rolling log-likelihood, generation) on a tiny model with random weights, with
prompts as tokens and as texts. Wanted: the log-likelihoods are those of transformers within 1e-4, the texts the same.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import lm_eval  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden"
CONFIG = {
    "model_type": "llama", "vocab_size": 900, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "hidden_act": "silu",
    "bos_token_id": 0, "eos_token_id": 0,
}
DOCUMENTS = [
    {"question": "The ship went out to", "choices": [" the sea", " the land", " 世界", " é"], "answer": 0},
    {"question": "Wie geht's", "choices": [", 世界?", " there", "\ta", " dir?"], "answer": 3},
    {"question": "An emoji: 😀", "choices": [" is one", " 😀😀", " is none"], "answer": 0},
    {"question": "a b", "choices": [" c", " d"], "answer": 1},
]
TASKS = {
    "choices": {"output_type": "multiple_choice", "doc_to_text": "{{question}}", "doc_to_choice": "{{choices}}",
                "doc_to_target": "{{answer}}", "target_delimiter": "",
                "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}]},
    "rolling": {"output_type": "loglikelihood_rolling", "doc_to_text": "", "doc_to_target": "{{question}}",
                "metric_list": [{"metric": "byte_perplexity"}]},
    "texts": {"output_type": "generate_until", "doc_to_text": "{{question}}", "doc_to_target": "x",
              "generation_kwargs": {"until": ["\n"], "max_gen_toks": 8}, "metric_list": [{"metric": "exact_match"}]},
}


def write_files(folder):
    model = folder / "model"
    model.mkdir()
    (model / "tokenizer.json").write_bytes((GOLDEN / "tokenizers/gpt2.json").read_bytes())
    (model / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>", "bos_token": "<|endoftext|>"}))
    torch.manual_seed(3)
    config = transformers.LlamaConfig(**CONFIG, initializer_range=0.5)
    transformers.LlamaForCausalLM(config).float().save_pretrained(model)
    (folder / "serve.toml").write_text('[[model]]\nname = "lm"\npath = "model"\n')
    (folder / "documents.json").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    for name, task in TASKS.items():
        task = {"task": name, "dataset_path": "json", "test_split": "test",
                "dataset_kwargs": {"data_files": {"test": str(folder / "documents.json")}}, **task}
        (folder / f"{name}.yaml").write_text(json.dumps(task))  # JSON is YAML


def evaluate(folder, backend, arguments):
    """The responses to all documents of each task."""
    results = lm_eval.simple_evaluate(
        model=backend, model_args=arguments, tasks=list(TASKS), log_samples=True, batch_size=2, device="cpu",
        task_manager=TaskManager(include_path=str(folder), include_defaults=False))
    return {task: [sample["resps"] for sample in sorted(results["samples"][task], key=lambda one: one["doc_id"])]
            for task in TASKS}


def leaves(value):
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, (list, tuple)) else [value]


def compare(found, expected):
    """The number of comparisons, of differences, and the largest one of a log-likelihood."""
    compared = different = 0
    largest = 0.0
    for task in TASKS:
        for one, other in zip(leaves(found[task]), leaves(expected[task]), strict=True):
            compared += 1
            if isinstance(other, float):
                largest = max(largest, abs(one - other))
                different += not abs(one - other) <= 1e-4
            else:
                different += str(one) != str(other)
    return compared, different, largest


def main():
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_files(folder)
        expected = evaluate(folder, "hf", {"pretrained": str(folder / "model"), "dtype": "float32", "max_length": 256})
        server = subprocess.Popen([pathlib.Path(sys.argv[1]).resolve(), "serve", "--config", "serve.toml", "--port",
                                   "0", "--quiet"], cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            port = int(re.search(r":(\d+)$", server.stderr.readline().strip()).group(1))
            for tokens in (True, False):
                found = evaluate(folder, "local-completions", {
                    "model": "lm", "base_url": f"http://127.0.0.1:{port}/v1/completions",
                    "tokenizer_backend": "huggingface", "tokenizer": str(folder / "model"),
                    "tokenized_requests": tokens, "max_length": 256})
                compared, different, largest = compare(found, expected)
                print(f"prompts as {'tokens' if tokens else 'texts'}: {compared} compared, {different} different, "
                      f"log-likelihoods by at most {largest:.1e}")
                failed |= different > 0 or compared == 0
        finally:
            server.kill()
            server.wait()
    sys.exit(failed)


if __name__ == "__main__":
    main()
