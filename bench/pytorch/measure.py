"""What train_step.py and lora_step.py have in common: the optimizer, the step and what is measured."""
import json
import resource
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

WARM_UP = 3


def ids_of(sentences, length):
    return torch.tensor([[(s * 31 + i * 17) % 4000 for i in range(length)]
                         for s in range(sentences)])


def measure(loss_of_ids, parameters, ids, steps):
    """Prints the median speed and the peak of memory of `steps` steps with the loss of `ids`."""
    parameters = list(parameters)
    optimizer = torch.optim.Adam(parameters, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    seconds = []
    for step in range(steps + WARM_UP):
        begin = time.perf_counter()
        loss = loss_of_ids(ids)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step >= WARM_UP:
            seconds.append(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"tokens_per_second": ids.numel() / statistics.median(seconds),
                      "peak_mb": peak, "version": torch.__version__}))


def loss_of(logits, ids):
    return F.cross_entropy(logits.flatten(0, 1), ids.view(-1), label_smoothing=0.1)
