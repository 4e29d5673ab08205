"""Rows of logits before and after the processors of transformers: writes expected.safetensors.

Needs torch, transformers and safetensors. Run it in this folder.
"""

import torch
from safetensors.torch import save_file
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

# name: repetition penalty, temperature, top-k, top-p, min-p; 0 leaves a processor out
CASES = {
    "temperature": (0, 0.7, 0, 0, 0),
    "hot": (0, 3.0, 0, 0, 0),
    "top_k": (0, 1.0, 7, 0, 0),
    "top_p": (0, 1.0, 0, 0.8, 0),
    "narrow_top_p": (0, 1.0, 0, 0.01, 0),
    "min_p": (0, 1.0, 0, 0, 0.1),
    "repetition": (1.3, 1.0, 0, 0, 0),
    "encouraged": (0.8, 1.0, 0, 0, 0),
    "all": (1.2, 0.8, 40, 0.9, 0.02),
    "all_hot": (1.1, 1.5, 60, 0.95, 0.05),
}

torch.manual_seed(3)
logits = 3.0 * torch.randn(6, 101)
tokens = torch.randint(0, 101, (6, 12))  # prompt and output together
bias = {4: 2.5, 17: -3.0, 50: float("-inf")}

tensors = {"logits": logits, "tokens": tokens.to(torch.int32)}
for name, (repetition, temperature, top_k, top_p, min_p) in CASES.items():
    chain = LogitsProcessorList()
    if repetition:
        chain.append(RepetitionPenaltyLogitsProcessor(repetition))
    if name.startswith("all"):
        chain.append(SequenceBiasLogitsProcessor([[[token], value] for token, value in bias.items()]))
    chain.append(TemperatureLogitsWarper(temperature))
    if top_k:
        chain.append(TopKLogitsWarper(top_k))
    if top_p:
        chain.append(TopPLogitsWarper(top_p))
    if min_p:
        chain.append(MinPLogitsWarper(min_p))
    tensors[f"{name}.options"] = torch.tensor([repetition or 1, temperature, top_k, top_p or 1, min_p])
    tensors[name] = torch.softmax(chain(tokens, logits.clone()).double(), -1).float()
save_file(tensors, "expected.safetensors")
