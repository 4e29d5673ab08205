"""Writes a MarianMTModel of the paper's base shape with random weights, as a model directory.

    make_marian.py OUT_DIRECTORY
"""
import sys

import torch
from transformers import MarianConfig, MarianMTModel


def main():
    torch.manual_seed(1)
    config = MarianConfig(
        vocab_size=32000, d_model=512, encoder_layers=6, decoder_layers=6,
        encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=2048,
        decoder_ffn_dim=2048, max_position_embeddings=512, activation_function="relu",
        scale_embedding=True, static_position_embeddings=True, pad_token_id=31999,
        eos_token_id=0, bos_token_id=None, decoder_start_token_id=31999, forced_eos_token_id=None)
    MarianMTModel(config).save_pretrained(sys.argv[1])


main()
