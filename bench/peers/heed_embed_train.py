"""heed's side of training an embedder: `heed train --task embed` with in-batch negatives.

    heed_embed_train.py HEED MODEL PAIRS.jsonl f32|bf16 TOKENS STEPS OUT_DIRECTORY

A step has about TOKENS tokens.
"""
import json
import pathlib
import resource
import shutil
import subprocess
import sys

WARM_UP = 3  # steps that are not counted


def main():
    heed, model, pairs, arithmetic, tokens, steps, out = sys.argv[1:]
    shutil.rmtree(out, ignore_errors=True)
    last = int(steps) + WARM_UP
    settings = {"run.compute": arithmetic, "run.token_budget": tokens, "run.max_steps": last, "run.num_train_epochs": 0,
                "validation.eval_steps": last + 1, "optimizer.learning_rate": 2e-5, "run.context": 256, "data.held_out": 64}
    subprocess.run([heed, "train", "--task", "embed", "--text", pairs, "--from", model, "--out", out,
                    *(word for name, value in settings.items() for word in ("--set", f"{name}={value}"))],
                   check=True, stdout=subprocess.DEVNULL)
    records = [json.loads(line) for line in (pathlib.Path(out) / "metrics.jsonl").read_text().splitlines()]
    taken = [one for one in records if one["kind"] == "step"]
    first, end = taken[WARM_UP - 1], taken[-1]
    with open(pairs) as file:
        count = sum(1 for _ in file) - 64
    trained = (end["epoch"] - first["epoch"]) * count
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(json.dumps({"per_second": trained / (end["seconds"] - first["seconds"]), "peak_memory": peak,
                      "pairs_per_step": trained / int(steps)}))


main()
