"""Steps of the paper's base model with PyTorch's DistributedDataParallel over gloo, as bench/ranks_step.cc makes them.
Prints, on rank 0, the seconds of a step as one line of JSON. bench/ranks_vs_pytorch starts it on each host with RANK,
WORLD_SIZE, MASTER_ADDR and MASTER_PORT.

    ddp_step.py STEPS SENTENCES
"""
import json
import statistics
import sys
import time

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel

import train_step
from measure import ids_of, loss_of

WARM_UP = 2


def main():
    steps, sentences = int(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    torch.manual_seed(1)
    train_step.VOCABULARY = 37000
    model = DistributedDataParallel(train_step.Transformer(**dict(train_step.SHAPES["base"], sentences=sentences)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), fused=True)
    ids = ids_of(sentences, train_step.LENGTH)
    seconds = []
    for step in range(WARM_UP + steps):
        begin = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(model(ids, ids), ids)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step >= WARM_UP:
            seconds.append(time.perf_counter() - begin)
    if torch.distributed.get_rank() == 0:
        print(json.dumps({"step": statistics.median(seconds), "version": torch.__version__}))
    torch.distributed.destroy_process_group()


main()
