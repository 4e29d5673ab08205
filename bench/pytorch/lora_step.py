"""The same training step as bench/train_step.cc's "lora" in PyTorch with transformers and peft: an
adapter of rank 16 of all linear maps of a Llama of the size of SmolLM2-135M in bf16.

    lora_step.py lora bf16 [steps] [eager|compiled]
"""
import sys

import peft
import torch
import transformers

from measure import ids_of, loss_of, measure


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

    def loss(ids):
        return loss_of(model(input_ids=ids, use_cache=False).logits, ids)
    measure(loss, trained, ids_of(sentences=8, length=128), steps)


main()
