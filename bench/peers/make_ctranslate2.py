"""Writes the weights of a translator of heed as CTranslate2 reads them: of a MarianMTModel or, with
norms in front of its layers, of a Pegasus.

    make_ctranslate2.py MODEL OUT_DIRECTORY

CTranslate2's own converter takes the embedding of the decoder's start for zeros and drops the last
row of the vocabulary, which holds for the checkpoints that were Marian's, but not for others: here
both stay.
"""
import json
import pathlib
import sys

import torch
from ctranslate2.converters import Converter
from ctranslate2.converters.transformers import BartLoader, MarianMTLoader
from transformers import AutoModelForSeq2SeqLM


def pieces(directory, count):
    """The pieces by id; without a vocabulary, the ids themselves."""
    path = pathlib.Path(directory) / "vocab.json"
    if not path.exists():
        return [str(i) for i in range(count)]
    numbers = json.loads(path.read_text())
    return sorted(numbers, key=numbers.get)


class Loader(MarianMTLoader):
    def __init__(self, tokens):
        self.tokens = tokens

    def get_model_spec(self, model):
        model.config.normalize_before = model.config.model_type == "pegasus"
        model.config.normalize_embedding = False
        return BartLoader.get_model_spec(self, model)

    def set_decoder(self, spec, decoder):
        BartLoader.set_decoder(self, spec, decoder)

    def set_config(self, config, model, tokenizer):
        config.eos_token = self.tokens[model.config.eos_token_id]
        config.unk_token = "<unk>" if "<unk>" in self.tokens else self.tokens[1]
        config.decoder_start_token = self.tokens[model.config.decoder_start_token_id]

    def get_vocabulary(self, model, tokenizer):
        return list(self.tokens)


class Directory(Converter):
    def __init__(self, path):
        self.path = path

    def _load(self):
        with torch.no_grad():
            model = AutoModelForSeq2SeqLM.from_pretrained(self.path, dtype=torch.float32)
            return Loader(pieces(self.path, model.config.vocab_size))(model, None)


def main():
    source, out = sys.argv[1:]
    Directory(source).convert(out, force=True)


main()
