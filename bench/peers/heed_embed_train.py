"""heed's side of training an embedder: `heed train --task embed` with in-batch negatives.

    heed_embed_train.py HEED MODEL PAIRS.jsonl f32|bf16 BATCH TOKENS STEPS OUT_DIRECTORY

TOKENS are those of a pair on average. A step has as many pairs as have BATCH * TOKENS tokens, about BATCH.
"""
import json
import pathlib
import resource
import shutil
import subprocess
import sys

WARM_UP = 3  # steps that are not counted


def main():
    heed, model, pairs, arithmetic, batch, tokens, steps, out = sys.argv[1:]
    shutil.rmtree(out, ignore_errors=True)
    last = int(steps) + WARM_UP
    settings = {"run.compute": arithmetic, "run.token_budget": round(int(batch) * float(tokens)), "run.max_steps": last, "run.num_train_epochs": 0,
                "validation.eval_steps": last + 1, "optimizer.learning_rate": 2e-5, "run.context": 256, "data.held_out": 64}
    subprocess.run([heed, "train", "--task", "embed", "--text", pairs, "--from", model, "--out", out,
                    *(word for name, value in settings.items() for word in ("--set", f"{name}={value}"))],
                   check=True, stdout=subprocess.DEVNULL)
    records = [json.loads(line) for line in (pathlib.Path(out) / "metrics.jsonl").read_text().splitlines()]
    taken = [one for one in records if one["kind"] == "step"]
    read = sum(one["tokens_per_second"] * (one["seconds"] - before["seconds"])
               for before, one in zip(taken[WARM_UP - 1:], taken[WARM_UP:]))
    trained = read / float(tokens)
    seconds = taken[-1]["seconds"] - taken[WARM_UP - 1]["seconds"]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(json.dumps({"per_second": trained / seconds, "peak_memory": peak,
                      "pairs_per_step": trained / int(steps)}))


main()
