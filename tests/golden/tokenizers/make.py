"""Makes one small tokenizer.json for each way of cutting text that a published family uses, trained
on fragments.txt, and records what Python's `tokenizers` does with the lines of lines.py.

    pip install tokenizers==0.23.* sentencepiece==0.2.* protobuf
    python tests/golden/tokenizers/make.py

Writes beside this file: KIND.json (the tokenizer), KIND.hashes (for each BLOCK of lines a 64-bit
hash of their numbers, with special tokens, and one of their decoded text, without) and expected.json
(the numbers and the text of the first lines, to be read by people).
"""

import json
import struct
import sys

from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers, processors, trainers

from lines import COUNT, HERE, hash_of, line, packed
from training import byte_level_bpe, sentencepiece_model, special, split, template
from training import trained, with_bytes

BLOCK = 16
READABLE = 24

GPT4_LIKE = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK_V3 = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def gpt2():
    tokenizer = byte_level_bpe(
        pre_tokenizers.ByteLevel(add_prefix_space=False), special("<|endoftext|>")
    )
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def roberta():
    specials = special("<s>", "<pad>", "</s>", "<unk>") + special("<mask>", lstrip=True)
    tokenizer = byte_level_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False), specials)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer


def bart():
    specials = special("<s>", "<pad>", "</s>", "<unk>") + special("<mask>", lstrip=True)
    tokenizer = byte_level_bpe(pre_tokenizers.ByteLevel(add_prefix_space=True), specials)
    tokenizer.post_processor = template(["<s>"], ["</s>"], tokenizer)
    return tokenizer


def llama3():
    pre_tokenizer = pre_tokenizers.Sequence(
        [split(GPT4_LIKE % "{1,3}"), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )
    names = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"]
    tokenizer = byte_level_bpe(pre_tokenizer, special(*names), ignore_merges=True)
    tokenizer.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=False), template(names[:1], [], tokenizer)]
    )
    return tokenizer


def qwen2():
    pre_tokenizer = pre_tokenizers.Sequence(
        [split(GPT4_LIKE % ""), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer = byte_level_bpe(pre_tokenizer, special(*names), normalizers.NFC())
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def gpt4o():
    pre_tokenizer = pre_tokenizers.Sequence(
        [split(O200K, "removed", True), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )
    return byte_level_bpe(pre_tokenizer, special("<|endoftext|>"))


def deepseek_v2():
    steps = [
        split(r"[\r\n]"),
        split("\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕὀ-ὅ]+"),
        split("\\s?[!-/:-~！-／：-～‘-‟　-。]+"),
        split(r"\s+$"),
        split("[一-龥ࠀ-一가-퟿]+"),
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(False, use_regex=False),
    ]
    names = ["<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"]
    tokenizer = byte_level_bpe(
        pre_tokenizers.Sequence(steps), special(*names), normalizers.Sequence([])
    )
    tokenizer.post_processor = template(names[:1], [], tokenizer)
    return tokenizer


def deepseek_v3():
    steps = [
        split(r"\p{N}{1,3}"),
        split("[一-龥぀-ゟ゠-ヿ]+"),
        split(DEEPSEEK_V3),
        pre_tokenizers.ByteLevel(False, use_regex=False),
    ]
    return byte_level_bpe(pre_tokenizers.Sequence(steps), [])


def clip():
    """Words that end with a suffix; the pieces of letters that do not are others."""
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    pattern = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split(pattern, "removed", True), pre_tokenizers.ByteLevel(False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return trained(
        tokenizer,
        trainers.BpeTrainer(
            vocab_size=900,
            special_tokens=special("<|startoftext|>", "<|endoftext|>"),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            end_of_word_suffix="</w>",
            show_progress=False,
        ),
    )


def openai_gpt():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    return trained(
        tokenizer,
        trainers.BpeTrainer(
            vocab_size=900, special_tokens=special("<unk>"), end_of_word_suffix="</w>", show_progress=False
        ),
    )


def prefixed_bpe():
    """continuing_subword_prefix, and unknown letters that are fused."""
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(False)]
    )
    tokenizer.decoder = decoders.WordPiece("##", cleanup=False)
    return trained(
        tokenizer,
        trainers.BpeTrainer(
            vocab_size=700,
            special_tokens=special("[UNK]"),
            continuing_subword_prefix="##",
            limit_alphabet=120,
            show_progress=False,
        ),
    )


def sentencepiece_decoder(strip):
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence(parts + ([decoders.Strip(" ", 1, 0)] if strip else []))


def llama2():
    tokenizer = with_bytes(Tokenizer(models.BPE()), ["<unk>", "<s>", "</s>"], None, "always")
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = sentencepiece_decoder(True)
    tokenizer.add_special_tokens(special("<unk>", "<s>", "</s>"))
    tokenizer.post_processor = template(["<s>"], [], tokenizer)
    return tokenizer


def mistral():
    tokenizer = with_bytes(Tokenizer(models.BPE()), ["<unk>", "<s>", "</s>"], None, "always")
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = sentencepiece_decoder(True)
    tokenizer.add_special_tokens(special("<unk>", "<s>", "</s>"))
    tokenizer.post_processor = template(["<s>"], [], tokenizer)
    return tokenizer


def gemma2():
    tokenizer = with_bytes(
        Tokenizer(models.BPE()), ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"], None, "never"
    )
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = sentencepiece_decoder(False)
    tokenizer.add_special_tokens(special("<pad>", "<eos>", "<bos>", "<unk>"))
    runs = ["\n" * n for n in (1, 2, 3, 4)] + ["▁" * n for n in (2, 3, 4, 8)] + ["<b>", "</b>"]
    tokenizer.add_tokens([AddedToken(run, normalized=False) for run in runs])
    tokenizer.post_processor = template(["<bos>"], [], tokenizer)
    return tokenizer


def bert(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return trained(
        tokenizer,
        trainers.WordPieceTrainer(
            vocab_size=900,
            special_tokens=special("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
            limit_alphabet=300,
            show_progress=False,
        ),
    )


def bert_uncased():
    tokenizer = bert(True)
    tokenizer.post_processor = template(["[CLS]"], ["[SEP]"], tokenizer)
    return tokenizer


def distilbert_cased():
    tokenizer = bert(False)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def unigram(serialized, normalizer, first, **options):
    proto = sentencepiece_model_pb2.ModelProto.FromString(serialized)
    pieces = first + [(p.piece, p.score) for p in proto.pieces][3:]
    names = [piece for piece, _ in pieces]
    tokenizer = Tokenizer(models.Unigram(pieces, names.index("<unk>"), options.get("bytes", False)))
    charsmap = normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)
    tokenizer.normalizer = normalizers.Sequence([charsmap] + normalizer) if normalizer else charsmap
    return tokenizer


def t5():
    serialized = sentencepiece_model(pad_id=0, eos_id=1, unk_id=2, bos_id=-1, model_type="unigram")
    (HERE / "t5.model").write_bytes(serialized)
    tokenizer = unigram(serialized, [], [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(special("<pad>", "</s>", "<unk>", "<extra_id_0>"))
    tokenizer.post_processor = template([], ["</s>"], tokenizer)
    return tokenizer


def t5_not_legacy():
    serialized = (HERE / "t5.model").read_bytes()
    steps = [normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")]
    tokenizer = unigram(serialized, steps, [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    tokenizer.add_special_tokens(special("<pad>", "</s>", "<unk>"))
    tokenizer.add_tokens(
        [AddedToken("lower", single_word=True, normalized=True), AddedToken("Word", rstrip=True)]
    )
    return tokenizer


def xlm_roberta():
    serialized = (HERE / "t5.model").read_bytes()
    first = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    tokenizer = unigram(serialized, [normalizers.Replace(Regex(" {2,}"), " ")], first)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(special("<s>", "<pad>", "</s>", "<unk>"))
    tokenizer.add_special_tokens(special("<mask>", lstrip=True))
    tokenizer.post_processor = template(["<s>"], ["</s>"], tokenizer)
    return tokenizer


def unigram_bytes():
    """Unigram with pieces for bytes, and what no family of ours uses: Nmt, NFKC, ByteLevel's kin."""
    proto = sentencepiece_model_pb2.ModelProto.FromString((HERE / "t5.model").read_bytes())
    pieces = [("<unk>", 0.0)] + [(f"<0x{b:02X}>", 0.0) for b in range(256)]
    pieces += [(p.piece, p.score) for p in proto.pieces][3:]
    tokenizer = Tokenizer(models.Unigram(pieces, 0, True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(prepend_scheme="never"),
            pre_tokenizers.Punctuation("merged_with_next"),
            pre_tokenizers.Split("a", "contiguous"),
        ]
    )
    tokenizer.decoder = sentencepiece_decoder(False)
    return tokenizer


def word_level():
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFD()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.CharDelimiterSplit(","),
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Punctuation("merged_with_previous"),
            pre_tokenizers.FixedLength(3),
        ]
    )
    return trained(
        tokenizer,
        trainers.WordLevelTrainer(vocab_size=600, special_tokens=special("<unk>"), show_progress=False),
    )


def byte_normalizer():
    """Bytes turned into letters by a normaliser, with added tokens found in the result."""
    tokenizer = gpt2()
    tokenizer.normalizer = normalizers.ByteLevel()
    tokenizer.pre_tokenizer = split("Ġ", "merged_with_next")
    tokenizer.add_tokens([AddedToken("être né", normalized=True), AddedToken("the", normalized=True)])
    return tokenizer


KINDS = [gpt2, roberta, bart, llama3, qwen2, gpt4o, deepseek_v2, deepseek_v3, clip, openai_gpt,
         prefixed_bpe, llama2, mistral, gemma2, bert_uncased, distilbert_cased, t5, t5_not_legacy,
         xlm_roberta, unigram_bytes, word_level, byte_normalizer]


def record(name, tokenizer, texts):
    tokenizer.save(str(HERE / f"{name}.json"), pretty=False)
    encodings = tokenizer.encode_batch(texts)
    decoded = tokenizer.decode_batch([e.ids for e in encodings])
    hashes = []
    for begin in range(0, COUNT, BLOCK):
        block = range(begin, begin + BLOCK)
        ids = b"".join(packed([*encodings[i].ids, -1]) for i in block)
        words = b"".join(decoded[i].encode() + b"\n" for i in block)
        hashes.append(struct.pack("<QQ", hash_of(ids), hash_of(words)))
    (HERE / f"{name}.hashes").write_bytes(b"".join(hashes))
    return [{"ids": e.ids, "text": d} for e, d in zip(encodings[:READABLE], decoded)]


def main(only):
    texts = [line(number).decode("utf-8", "replace") for number in range(COUNT)]
    expected = {}
    for make in KINDS:
        if only and make.__name__ not in only:
            continue
        expected[make.__name__] = record(make.__name__, make(), texts)
        print(make.__name__, flush=True)
    if not only:
        (HERE / "expected.json").write_text(json.dumps(expected, ensure_ascii=True, separators=(",", ":")))


main(sys.argv[1:])
