"""PyTorch's side of training an embedder: sentence-transformers' trainer with in-batch negatives.

    sentence_transformers_train.py MODEL PAIRS.jsonl f32|bf16 BATCH STEPS OUT_DIRECTORY
"""
import importlib.metadata
import json
import os
import resource
import sys
import time

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from transformers import TrainerCallback

WARM_UP = 3  # steps that are not counted


class Clock(TrainerCallback):
    def __init__(self):
        self.ends = []

    def on_step_end(self, arguments, state, control, **_):
        self.ends.append(time.perf_counter())


def main():
    path, pairs, arithmetic, batch, steps, out = sys.argv[1:]
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    with open(pairs) as file:
        rows = [json.loads(line) for line in file]
    model = SentenceTransformer(path, device="cpu")
    clock = Clock()
    arguments = SentenceTransformerTrainingArguments(
        output_dir=out, max_steps=int(steps) + WARM_UP, per_device_train_batch_size=int(batch), learning_rate=2e-5,
        bf16=arithmetic == "bf16", use_cpu=True, save_strategy="no", report_to="none", disable_tqdm=True,
        logging_strategy="no")
    SentenceTransformerTrainer(
        model=model, args=arguments, train_dataset=Dataset.from_list(rows), loss=MultipleNegativesRankingLoss(model),
        callbacks=[clock]).train()
    seconds = clock.ends[-1] - clock.ends[WARM_UP - 1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    version = importlib.metadata.version("sentence-transformers")
    print(json.dumps({"per_second": int(steps) * int(batch) / seconds, "peak_memory": peak,
                      "version": f"PyTorch {torch.__version__}, sentence-transformers {version}"}))


main()
