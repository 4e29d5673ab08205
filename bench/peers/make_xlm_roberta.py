"""Writes a model directory of XLM-RoBERTa base's shape with random weights, and a tokenizer of its
kind that learned from a text.

    make_xlm_roberta.py SENTENCES.txt OUT_DIRECTORY
"""
import pathlib
import sys

import sentencepiece
import torch
import transformers


def main():
    text, out = sys.argv[1], pathlib.Path(sys.argv[2])
    sentencepiece.SentencePieceTrainer.train(
        input=text, model_prefix=str(out / "sentencepiece.bpe"), vocab_size=8000,
        model_type="unigram", unk_id=0, bos_id=1, eos_id=2, pad_id=-1, minloglevel=2,
        hard_vocab_limit=False)
    (out / "sentencepiece.bpe.vocab").unlink()
    tokenizer = transformers.XLMRobertaTokenizer.from_pretrained(out, model_max_length=512)
    tokenizer.save_pretrained(out)
    torch.manual_seed(1)
    transformers.XLMRobertaModel(transformers.XLMRobertaConfig(
        vocab_size=250002, max_position_embeddings=514, type_vocab_size=1)).save_pretrained(out)


main()
