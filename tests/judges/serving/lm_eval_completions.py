#!/usr/bin/env python3
"""lm-eval's local-completions (pip install "lm_eval[api]==0.4.13" transformers) against heed serve, without a network.

    tests/judges/serving/lm_eval_completions.py HEED

Runs tasks of each kind (multiple choice, rolling log-likelihood, generation) on a tiny model with random weights, with
prompts as tokens and as texts. Wanted: lm-eval's log-likelihood of every choice is what /v1/score gives its tokens, and
the generated texts are those of /v1/completions.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import lm_eval  # noqa: E402
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


def ask(port, path, body):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def write_files(folder):
    model = folder / "model"
    model.mkdir()
    (model / "tokenizer.json").write_bytes((GOLDEN / "tokenizers/gpt2.json").read_bytes())
    (model / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>", "bos_token": "<|endoftext|>"}))
    (model / "config.json").write_text(json.dumps(CONFIG))
    (folder / "serve.toml").write_text('[[model]]\nname = "lm"\npath = "model"\nrandom_weights = 3\n')
    (folder / "documents.json").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    for name, task in TASKS.items():
        task = {"task": name, "dataset_path": "json", "test_split": "test",
                "dataset_kwargs": {"data_files": {"test": str(folder / "documents.json")}}, **task}
        (folder / f"{name}.yaml").write_text(json.dumps(task))  # JSON is YAML


def log_likelihood(port, tokenizer, context, continuation):
    """Of the continuation's tokens, as lm-eval splits the text."""
    whole = tokenizer.encode(context + continuation, add_special_tokens=False)
    begin = len(tokenizer.encode(context, add_special_tokens=False))
    scores = ask(port, "/v1/score", {"model": "lm", "text": context + continuation})["tokens"]
    assert [one["token"] for one in scores] == whole, (context, continuation)
    return sum(one["log_probability"] for one in scores[begin:])


def compare(port, tokenizer, results):
    """The number of comparisons and of differences."""
    compared = different = 0
    for sample in results["samples"]["choices"]:
        for choice, response in zip(sample["doc"]["choices"], sample["filtered_resps"], strict=True):
            expected = log_likelihood(port, tokenizer, sample["doc"]["question"], choice)
            compared += 1
            different += abs(response[0] - expected) > 1e-4
    for sample in results["samples"]["texts"]:
        body = {"model": "lm", "prompt": sample["doc"]["question"], "max_tokens": 8, "temperature": 0, "stop": "\n"}
        compared += 1
        different += ask(port, "/v1/completions", body)["choices"][0]["text"] != sample["resps"][0][0]
    return compared, different


def main():
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_files(folder)
        server = subprocess.Popen([pathlib.Path(sys.argv[1]).resolve(), "serve", "--config", "serve.toml", "--port",
                                   "0", "--quiet"], cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            port = int(re.search(r":(\d+)$", server.stderr.readline().strip()).group(1))
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "model")
            for tokens in (True, False):
                arguments = {"model": "lm", "base_url": f"http://127.0.0.1:{port}/v1/completions",
                             "tokenizer_backend": "huggingface", "tokenizer": str(folder / "model"),
                             "tokenized_requests": tokens, "max_length": 256, "batch_size": 2}
                results = lm_eval.simple_evaluate(
                    model="local-completions", model_args=arguments, tasks=list(TASKS), log_samples=True,
                    task_manager=TaskManager(include_path=str(folder), include_defaults=False))
                compared, different = compare(port, tokenizer, results)
                print(f"prompts as {'tokens' if tokens else 'texts'}: {compared} compared, {different} different;",
                      {task: {key: value for key, value in numbers.items() if "," in key and "stderr" not in key}
                       for task, numbers in results["results"].items()})
                failed |= different > 0 or compared == 0
        finally:
            server.kill()
            server.wait()
    sys.exit(failed)


if __name__ == "__main__":
    main()
