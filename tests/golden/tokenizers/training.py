"""What make.py builds its tokenizers from: the text that they learn, and parts that several share."""

import io
import json
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models
from tokenizers import pre_tokenizers, processors, trainers

from lines import FRAGMENTS, HERE

TEXTS = [f.decode("utf-8", "replace") for f in FRAGMENTS]
WORDS = [t[i:] for t in TEXTS for i in range(0, min(len(t), 40), 7)]
CORPUS = TEXTS * 3 + WORDS


def special(*contents, **options):
    return [AddedToken(content, special=True, normalized=False, **options) for content in contents]


def template(before, after, tokenizer):
    names = before + after
    return processors.TemplateProcessing(
        single=" ".join(before + ["$A"] + after),
        pair=" ".join(before + ["$A"] + after + ["$B:1"]),
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in dict.fromkeys(names)],
    )


def trained(tokenizer, trainer, texts=None):
    tokenizer.train_from_iterator(texts or CORPUS, trainer)
    return tokenizer


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level_bpe(pre_tokenizer, specials, normalizer=None, **options):
    tokenizer = Tokenizer(models.BPE(**options))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return trained(
        tokenizer,
        trainers.BpeTrainer(
            vocab_size=900, special_tokens=specials, initial_alphabet=alphabet, show_progress=False
        ),
    )


def with_bytes(tokenizer, first_names, normalizer_of_corpus, scheme, size=900, **options):
    """Rebuilds a BPE with pieces for bytes, as SentencePiece's are."""
    corpus = Tokenizer(models.BPE())
    corpus.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    trainer = trainers.BpeTrainer(vocab_size=size, limit_alphabet=200, show_progress=False)
    corpus.train_from_iterator(CORPUS, trainer)
    learned = json.loads(corpus.to_str())["model"]
    pieces = first_names + [f"<0x{byte:02X}>" for byte in range(256)]
    pieces += [p for p, _ in sorted(learned["vocab"].items(), key=lambda x: x[1]) if p not in pieces]
    merges = [tuple(m) for m in learned["merges"]]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer.model = models.BPE(
        vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True, **options
    )
    return tokenizer


def sentencepiece_decoder(strip):
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence(parts + ([decoders.Strip(" ", 1, 0)] if strip else []))


def rules():
    """A part of SentencePiece's nmt_nfkc: what it does, in a table a tenth as large."""
    table = {}
    blocks = [(0xA0, 0x17F), (0x2000, 0x2070), (0x2070, 0x20A0), (0x2150, 0x2190), (0x2460, 0x2500),
              (0x3131, 0x3164), (0x3300, 0x3310), (0xF900, 0xF910), (0xFB00, 0xFB1E), (0xFDFA, 0xFDFB),
              (0xFE70, 0xFE80), (0xFF01, 0xFFEF), (0x1D400, 0x1D420)]
    for first, last in blocks:
        for c in range(first, last):
            text = unicodedata.normalize("NFKC", chr(c))
            if text != chr(c):
                table[(c,)] = tuple(map(ord, text))
            parts = unicodedata.normalize("NFD", chr(c))
            if len(parts) == 2 and unicodedata.normalize("NFC", parts) == chr(c):
                table[tuple(map(ord, parts))] = (c,)
    for c in [*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F]:
        table[(c,)] = ()
    for c in [9, 0xA, 0xC, 0xD, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD]:
        table[(c,)] = (0x20,)
    text = lambda points: " ".join(f"{p:X}" for p in points)
    return "".join(f"{text(key)}\t{text(value)}\n" for key, value in sorted(table.items()))


def sentencepiece_model(**options):
    (HERE / "rules.tmp").write_text(rules())
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([t for t in CORPUS if "\0" not in t]),
        model_writer=model,
        vocab_size=options.pop("vocab_size", 800),
        character_coverage=0.98,
        normalization_rule_tsv=str(HERE / "rules.tmp"),
        minloglevel=2,
        num_threads=1,
        **options,
    )
    (HERE / "rules.tmp").unlink()
    proto = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    proto.normalizer_spec.ClearField("normalization_rule_tsv")  # the path of the rules
    return proto.SerializeToString()
