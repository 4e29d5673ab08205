"""Compares the gradient of `mpirun -n N heed train` with that of PyTorch's DistributedDataParallel (gloo) on N processes.

    ddp.py HEED [RANKS]      needs torch, transformers, sentencepiece and safetensors, and mpirun.openmpi

heed makes one step over a whole text of very uneven lengths. Its gradient is the first moment of Adam, divided by
1 - beta1; the learning rate is too small to change a weight. PyTorch reads the saved model and computes the same mean over
all tokens. Prints the relative difference of the gradients as vectors; fails if it is above 1e-5.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import torch
import torch.multiprocessing
from safetensors.torch import load_file, save_file
from transformers import MarianMTModel, MarianTokenizer

BETA1 = 0.9
LIMIT = 1e-5


def write_text(folder):
    random.seed(5)
    words = "one two red sun sea bread light man".split()
    for name in ("train", "valid"):
        lines = [random.choices(words, k=40 if i % 10 == 0 else random.randint(1, 4)) for i in range(120)]
        (folder / f"{name}.source").write_text("".join(" ".join(line) + "\n" for line in lines))
        (folder / f"{name}.target").write_text("".join(" ".join(reversed(line)) + "\n" for line in lines))


def train(heed, folder, ranks):
    settings = {
        "vocabulary.size": 60, "data.valid_source": folder / "valid.source", "data.valid_target": folder / "valid.target",
        "model.d_model": 64, "model.d_ff": 128, "model.dropout": 0, "model.norm_placement": "post",
        "optimizer.name": "adam", "optimizer.adam_beta1": BETA1, "optimizer.learning_rate": 1e-30,
        "optimizer.label_smoothing_factor": 0, "optimizer.max_grad_norm": 0,
        "run.compute": "f32", "run.max_steps": 1, "run.num_train_epochs": 0, "run.token_budget": 5000,
        "run.average": 0, "validation.sentences": 1, "distributed.leaves": 8,
    }
    command = ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader", "-n", str(ranks), heed, "train",
               "--preset", "tiny", "--threads", "1", "--source", folder / "train.source",
               "--target", folder / "train.target", "--out", folder / "model"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    subprocess.run([str(part) for part in command], check=True, env=environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    state = json.loads((folder / "model/last/training.json").read_text())
    assert (state["step"], state["epoch"], state["batch"]) == (1, 1, 0), "the step is not the whole text"


def padded(rows, value):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [value] * (longest - len(row)) for row in rows])


def process(rank, ranks, folder):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29555"}
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=ranks)
    tokenizer = MarianTokenizer.from_pretrained(folder / "model/last")
    model = MarianMTModel.from_pretrained(folder / "model/last", dtype=torch.float32).train()
    for module in model.modules():
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None  # it is the token that decoders start with, and trained
    for name, parameter in model.named_parameters():
        if "embed_positions" in name:
            parameter.requires_grad = False  # sinusoids get no gradient, for which DDP would wait without a word
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    pairs = list(zip((folder / "train.source").read_text().splitlines(), (folder / "train.target").read_text().splitlines()))
    sources = [tokenizer(source)["input_ids"] for source, _ in pairs]
    targets = [tokenizer(text_target=target)["input_ids"] for _, target in pairs]
    tokens = sum(len(target) for target in targets)
    own_sources, own_targets = sources[rank::ranks], targets[rank::ranks]
    start = model.config.decoder_start_token_id
    logits = parallel(
        input_ids=padded(own_sources, 0),
        attention_mask=padded([[1] * len(source) for source in own_sources], 0),
        decoder_input_ids=padded([[start] + target[:-1] for target in own_targets], 0),
    ).logits
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), padded(own_targets, -100).flatten(), reduction="sum")
    (loss * ranks / tokens).backward()  # DDP takes the mean over processes
    if rank == 0:
        gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
        save_file(gradients, folder / "torch.safetensors")
    torch.distributed.destroy_process_group()


def main():
    heed, ranks = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 4
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_text(folder)
        train(heed, folder, ranks)
        torch.multiprocessing.spawn(process, (ranks, folder), nprocs=ranks)
        moments = {name.replace(".o_proj.", ".out_proj."): moment
                   for name, moment in load_file(folder / "model/last/optimizer.safetensors").items()}
        expected = load_file(folder / "torch.safetensors")
        # The bias of the logits is no parameter of PyTorch's Marian.
        unlike = {f"{name}.m" for name in expected} ^ {name for name in moments if name.endswith(".m")}
        assert all("bias" in name and "layers" not in name for name in unlike), f"only one of both has {unlike}"
        difference = squares = 0.0
        for parameter, gradient in expected.items():
            own = moments[f"{parameter}.m"].reshape(gradient.shape) / (1 - BETA1)
            difference += (own - gradient).double().square().sum().item()
            squares += gradient.double().square().sum().item()
        relative = (difference / squares) ** 0.5
        print(f"{ranks} ranks, {len(expected)} parameters: the gradients differ by {relative:.2e}, at most {LIMIT:.0e}")
        sys.exit(relative > LIMIT)


if __name__ == "__main__":
    main()
