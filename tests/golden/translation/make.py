#!/usr/bin/env python3
"""Makes the folders beside this file: tiny random translation models with the files of published
ones, and what transformers makes of a few lines: tokens, and translations by greedy search.

opus-mt            Marian's files, as Helsinki-NLP/opus-mt-*; <pad> would win but is a bad word
opus-mt-multi      the same for several target languages (>>fra<<)
opus-mt-separate   the same with a vocabulary for each language
m2m-100            vocab.json and sentencepiece.bpe.model, as facebook/m2m100_418M
nllb               tokenizer.json, as facebook/nllb-200-*
mbart              tokenizer.json, as facebook/mbart-large-en-ro
pegasus            spiece.model, as google/pegasus-xsum (a summary, not a translation)
mbart-50           sentencepiece.bpe.model, as facebook/mbart-large-50-many-to-many-mmt

    python3 -m venv venv && venv/bin/pip install torch transformers sentencepiece safetensors
    venv/bin/python tests/golden/translation/make.py [folder...]
"""
import io
import itertools
import json
import pathlib
import shutil
import sys

import sentencepiece
import torch
import transformers as hf

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
TEXT = [
    "The old house stands by the river, and the river runs to the sea.",
    "A ship left the harbour before the sun was up.",
    "She reads the letter twice and puts it back into the drawer.",
    "There is a light in the window of the tower!",
    "We walked along the wall until the rain began to fall.",
    "Das alte Haus steht am Fluss, und der Fluss fließt ins Meer.",
    "Ein Schiff verließ den Hafen, bevor die Sonne aufging.",
    "Sie liest den Brief zweimal und legt ihn zurück in die Schublade.",
    "Im Fenster des Turms brennt ein Licht!",
    "Wir gingen an der Mauer entlang, bis der Regen begann.",
    "La vieille maison est au bord de la rivière, naïve et calme.",
    "Un navire quitta le port avant le lever du soleil, à 5 heures.",
]
LINES = ["The old house stands by the river.", "  two  spaces ", "Größe, naïve café №5!",
         "日本語 and English", "x"]
NEW_TOKENS = 10
NEAR_TIE = 1e-3
SIZES = dict(d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
             decoder_attention_heads=2, encoder_ffn_dim=12, decoder_ffn_dim=12,
             max_position_embeddings=64, scale_embedding=True, dropout=0.0, attention_dropout=0.0,
             activation_dropout=0.0)


def pieces(path, size, kind, first=0, **options):
    """A SentencePiece model with <unk>, <s> and </s> in front."""
    # Not by model_prefix: the file would hold its path.
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT[first:]), model_writer=model, vocab_size=size, model_type=kind,
        character_coverage=1.0, normalization_rule_name="identity", hard_vocab_limit=False,
        minloglevel=2, **options)
    path.write_bytes(model.getvalue())
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def names(model):
    return [model.id_to_piece(i) for i in range(model.get_piece_size())]


def write(path, value):
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def marian(folder, more=(), separate=False):
    source = pieces(folder / "source.spm", 120, "unigram")
    target = pieces(folder / "target.spm", 120, "unigram", 5)
    own = names(source) if separate else names(source) + names(target)
    vocabulary = dict.fromkeys(["</s>", "<unk>", *more, *own])
    vocabulary = {k: i for i, k in enumerate([k for k in vocabulary if k != "<s>"] + ["<pad>"])}
    write(folder / "vocab.json", vocabulary)
    other = vocabulary
    if separate:
        other = dict.fromkeys(["</s>", "<unk>", *names(target)])
        other = {k: i for i, k in enumerate([k for k in other if k != "<s>"] + ["<pad>"])}
        write(folder / "target_vocab.json", other)
    write(folder / "tokenizer_config.json", dict(
        tokenizer_class="MarianTokenizer", source_lang="en", target_lang="de",
        separate_vocabs=separate, model_max_length=512))
    pad = other["<pad>"]
    config = hf.MarianConfig(
        vocab_size=len(vocabulary), decoder_vocab_size=len(other), pad_token_id=pad,
        eos_token_id=0, bos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=None,
        share_encoder_decoder_embeddings=not separate, activation_function="swish", **SIZES)
    tokenizer = hf.MarianTokenizer.from_pretrained(folder)
    return hf.MarianMTModel, config, tokenizer, dict(bad_words_ids=[[pad]])


def shared(folder, tokenizer, model, config_type, source, target, **changes):
    tokenizer.save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    write(folder / "tokenizer_config.json", settings | dict(src_lang=None, tgt_lang=None))
    rows = changes.pop("rows", len(tokenizer))
    config = config_type(vocab_size=rows + 3, pad_token_id=1, bos_token_id=0,
                         eos_token_id=2, **SIZES | changes)
    tokenizer.src_lang = source
    return model, config, tokenizer, {}


def m2m_100(folder):
    spm = pieces(folder / "sentencepiece.bpe.model", 150, "bpe")
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    order = special + sorted(set(names(spm)) - set(special))
    write(folder / "vocab.json", {k: i for i, k in enumerate(order)})
    tokenizer = hf.M2M100Tokenizer(str(folder / "vocab.json"),
                                   str(folder / "sentencepiece.bpe.model"))
    return shared(folder, tokenizer, hf.M2M100ForConditionalGeneration, hf.M2M100Config, "en",
                  "fr", rows=len(order) + 100, decoder_start_token_id=2)


def nllb(folder):
    spm = pieces(folder / "sentencepiece.bpe.model", 150, "bpe")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "NllbTokenizer"}')
    tokenizer = hf.NllbTokenizer.from_pretrained(folder)
    codes = hf.models.nllb.tokenization_nllb.FAIRSEQ_LANGUAGE_CODES
    tokenizer.add_tokens([hf.AddedToken(code, special=True) for code in codes])
    (folder / "sentencepiece.bpe.model").unlink()
    return shared(folder, tokenizer, hf.M2M100ForConditionalGeneration, hf.M2M100Config,
                  "eng_Latn", "fra_Latn", decoder_start_token_id=2)


def mbart(folder):
    pieces(folder / "sentencepiece.bpe.model", 150, "unigram")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "MBartTokenizer"}')
    tokenizer = hf.MBartTokenizer.from_pretrained(folder)
    (folder / "sentencepiece.bpe.model").unlink()
    ro = tokenizer.convert_tokens_to_ids("ro_RO")
    return shared(folder, tokenizer, hf.MBartForConditionalGeneration, hf.MBartConfig, "en_XX",
                  "ro_RO", decoder_start_token_id=ro, forced_eos_token_id=None)


class Fairseq:
    """mBART-50's tokenizer as it was before transformers 5: SentencePiece with fairseq's numbers."""

    def __init__(self, path):
        self.spm = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.codes = hf.models.mbart50.tokenization_mbart50.FAIRSEQ_LANGUAGE_CODES

    def __len__(self):
        return self.spm.get_piece_size() + 1 + len(self.codes) + 1

    def convert_tokens_to_ids(self, code):
        return self.spm.get_piece_size() + 1 + self.codes.index(code)

    def __call__(self, line):
        text = [3 if i == 0 else i + 1 for i in self.spm.encode(line)]
        return dict(input_ids=[self.convert_tokens_to_ids(self.src_lang), *text, 2])

    def decode(self, tokens, skip_special_tokens):
        return self.spm.decode([t - 1 for t in tokens if 3 < t <= self.spm.get_piece_size()])

    def save_pretrained(self, folder):
        write(folder / "tokenizer_config.json",
              dict(tokenizer_class="MBart50Tokenizer", src_lang=None, tgt_lang=None))


def mbart50(folder):
    pieces(folder / "sentencepiece.bpe.model", 150, "unigram")
    return shared(folder, Fairseq(folder / "sentencepiece.bpe.model"),
                  hf.MBartForConditionalGeneration, hf.MBartConfig, "en_XX", "de_DE",
                  decoder_start_token_id=2, forced_eos_token_id=None)


class Pegasus:
    """SentencePiece's numbers and 103."""

    def __init__(self, spm):
        self.spm = spm

    def __call__(self, line):
        return dict(input_ids=[i + 103 for i in self.spm.encode(line)] + [1])

    def decode(self, tokens, skip_special_tokens):
        return self.spm.decode([t - 103 for t in tokens if t >= 105])


def pegasus(folder):
    """<pad>, </s> and <unk> in front."""
    spm = pieces(folder / "spiece.model", 150, "unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    write(folder / "tokenizer_config.json", dict(tokenizer_class="PegasusTokenizer"))
    (folder / "config.json").write_text('{"model_type": "pegasus"}')
    config = hf.PegasusConfig(
        vocab_size=spm.get_piece_size() + 103, pad_token_id=0, eos_token_id=1,
        decoder_start_token_id=0, forced_eos_token_id=None, activation_function="relu", **SIZES)
    own = hf.PegasusTokenizer.from_pretrained(folder)
    for line in LINES:  # transformers 5 does not strip spaces where the model has no normaliser
        stripped = " ".join(line.split())
        assert own(stripped)["input_ids"] == Pegasus(spm)(stripped)["input_ids"], line
    return hf.PegasusForConditionalGeneration, config, Pegasus(spm), {}


# The function, and the languages that its translations are given.
FOLDERS = {
    "opus-mt": (marian, "", ""),
    "opus-mt-multi": (lambda f: marian(f, (">>fra<<", ">>deu<<")), "", "fra"),
    "opus-mt-separate": (lambda f: marian(f, separate=True), "", ""),
    "m2m-100": (m2m_100, "en", "fr"),
    "nllb": (nllb, "eng_Latn", "fra_Latn"),
    "mbart": (mbart, "en_XX", "ro_RO"),
    "mbart-50": (mbart50, "en_XX", "de_DE"),
    "pegasus": (pegasus, "", ""),
}


def randomize(model, generator):
    sinusoids = model.config.model_type in ("marian", "pegasus")
    for name, parameter in model.named_parameters():
        if sinusoids and "embed_positions" in name:
            continue
        noise = torch.randn(parameter.shape, generator=generator)
        offset = 1.0 if "norm" in name and name.endswith("weight") else 0.0
        parameter.data = 0.4 * noise + offset
    if sinusoids:
        bias = 0.3 * torch.randn(model.final_logits_bias.shape, generator=generator)
        if model.config.model_type == "marian":
            bias[0, model.config.pad_token_id] = 50.0
        model.final_logits_bias = bias


def translation(model, ids, prompt, bad):
    """Greedy search; None where a rounding error could turn it, or where it is trivial."""
    output = list(prompt)
    for _ in range(NEW_TOKENS):
        logits = model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([output]),
                       use_cache=False).logits[0, -1]
        logits[[words[0] for words in bad]] = -torch.inf
        best = logits.topk(2)
        if best.values[0] - best.values[1] < NEAR_TIE:
            return None
        output.append(best.indices[0].item())
        if output[-1] == model.config.eos_token_id:
            break
        if output[-1] == model.config.pad_token_id:
            return None
    found = output[len(prompt):]
    return found if len(set(found)) > 2 else None


def make(name):
    build, source, target = FOLDERS[name]
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    kind, config, tokenizer, generation = build(folder)
    prefix = f">>{target}<< " if name == "opus-mt-multi" else ""
    ids = [tokenizer(prefix + line)["input_ids"] for line in LINES]
    prompt = [config.decoder_start_token_id]
    if source and name == "mbart":
        prompt = [tokenizer.convert_tokens_to_ids(target)]
    elif source and name == "m2m-100":
        prompt.append(tokenizer.get_lang_id(target))
    elif source:
        prompt.append(tokenizer.convert_tokens_to_ids(target))
    for seed in itertools.count():
        model = kind(config).eval()
        with torch.no_grad():
            randomize(model, torch.Generator().manual_seed(seed))
            bad = generation.get("bad_words_ids", [])
            found = [translation(model, line, prompt, bad) for line in ids]
        if all(found):
            break
    model.save_pretrained(folder)
    write(folder / "generation_config.json", generation | dict(
        decoder_start_token_id=config.decoder_start_token_id, eos_token_id=config.eos_token_id,
        pad_token_id=config.pad_token_id, max_length=64))
    eos = config.eos_token_id
    texts = [[t for t in tokens if t != eos] for tokens in found]
    write(folder / "expected.json", dict(
        source_language=source, target_language=target, prompt=prompt, lines=[
            dict(text=line, source=own, translation=tokens,
                 translated=tokenizer.decode(tokens, skip_special_tokens=True).strip())
            for line, own, tokens in zip(LINES, ids, texts)]))


for name in sys.argv[1:] or FOLDERS:
    make(name)
    print(name)
