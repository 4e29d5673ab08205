"""The same training step as bench/train_step.cc's "lora" in PyTorch with transformers and peft: an
adapter of rank 16 of all linear maps of a Llama of the size of SmolLM2-135M in bf16.

    lora_step.py lora bf16 [steps] [eager|compiled]
"""
import json
import resource
import statistics
import sys
import time

import peft
import torch
import transformers
from torch.nn import functional as F

WARM_UP, LENGTH, SENTENCES = 3, 128, 8


def main():
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    torch.manual_seed(1)
    torch.set_default_dtype(torch.bfloat16)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
        num_attention_heads=9, num_key_value_heads=3, tie_word_embeddings=True,
        attn_implementation="sdpa"))
    torch.set_default_dtype(torch.float32)
    # The adapter in bf16, too: no conversions between its products and the model's.
    model = peft.get_peft_model(model, peft.LoraConfig(r=16, lora_alpha=32,
                                                       target_modules="all-linear"),
                                autocast_adapter_dtype=False)
    trained = [p for p in model.parameters() if p.requires_grad]
    if sys.argv[4:] == ["compiled"]:
        model = torch.compile(model)
    optimizer = torch.optim.Adam(trained, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    ids = torch.tensor([[(s * 31 + i * 17) % 4000 for i in range(LENGTH)]
                        for s in range(SENTENCES)])
    seconds = []
    for step in range(steps + WARM_UP):
        begin = time.perf_counter()
        logits = model(input_ids=ids, use_cache=False).logits
        loss = F.cross_entropy(logits.flatten(0, 1), ids.view(-1), label_smoothing=0.1)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step >= WARM_UP:
            seconds.append(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"tokens_per_second": ids.numel() / statistics.median(seconds),
                      "peak_mb": peak, "version": torch.__version__}))


main()
