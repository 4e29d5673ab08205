#!/usr/bin/env python3
"""Makes the folders beside this file: tiny random encoders as they are published, with tokenizers.

expected.json of each holds what sentence-transformers or transformers' pipelines make of TEXTS:

    embed-*     SentenceTransformer: "embeddings" [texts, D]
    classify    pipeline("text-classification"): "scores" of all labels, in their order, of texts and
                then of pairs, for every problem_type
    rerank*     CrossEncoder: "sigmoid" and "identity", the scores of QUERY with each text
    pairs.json  pairs of texts by the tokenizers of ../tokenizers
    ner         pipeline("token-classification", aggregation_strategy="simple"): "entities"

    python3 -m venv venv
    venv/bin/pip install torch transformers sentence-transformers sentencepiece safetensors
    venv/bin/python tests/golden/encoders/make.py
"""
import io
import json
import pathlib
import shutil
import sys

import sentence_transformers
import sentencepiece
import torch
import transformers as hf
from safetensors.torch import save_file
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
TEXTS = [
    "A cat sits on the warm stove.",
    "The kitten lies by the fire",
    "taxes",
    "Ada Lovelace met Charles Babbage in London, and they spoke about engines for an hour.",
    "",
    "the cat, the kitten and the fire: the warm stove of Ada in London sits by the engines they met",
]
QUERY = "Where does the cat sit?"
PAIRS = [(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[3]), (TEXTS[5], TEXTS[3])]
SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
             max_position_embeddings=48)
# Whole blocks of quantised types.
WIDE = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=1)
LABELS = ["bad", "fair", "good"]
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def names(labels):
    return dict(id2label=dict(enumerate(labels)), label2id={l: i for i, l in enumerate(labels)})


def word_pieces(specials):
    """cls, pad, sep, unk, mask first."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=specials[3]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(TEXTS, trainers.WordPieceTrainer(
        vocab_size=110, special_tokens=specials, show_progress=False))
    return tokenizer


def ids(tokenizer, *tokens):
    return [(t, tokenizer.token_to_id(t)) for t in tokens]


def bert_tokenizer():
    tokenizer = word_pieces(["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=ids(tokenizer, "[CLS]", "[SEP]"))
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, cls_token="[CLS]", pad_token="[PAD]", sep_token="[SEP]",
        unk_token="[UNK]", mask_token="[MASK]", model_max_length=48,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"])


def mpnet_tokenizer():
    tokenizer = word_pieces(["<s>", "<pad>", "</s>", "[UNK]", "<mask>"])
    (_, cls), (_, sep) = ids(tokenizer, "<s>", "</s>")
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", sep), ("<s>", cls))
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", cls_token="<s>",
        pad_token="<pad>", sep_token="</s>", unk_token="[UNK]", mask_token="<mask>",
        model_max_length=46)


def byte_level_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(
        vocab_size=330, special_tokens=["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=ids(tokenizer, "[CLS]", "[SEP]"))
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, cls_token="[CLS]", pad_token="[PAD]", sep_token="[SEP]",
        unk_token="[UNK]", mask_token="[MASK]", model_max_length=48)


def roberta_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(
        vocab_size=330, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    (_, cls), (_, sep) = ids(tokenizer, "<s>", "</s>")
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", sep), ("<s>", cls), add_prefix_space=False)
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", cls_token="<s>",
        pad_token="<pad>", sep_token="</s>", unk_token="<unk>", mask_token="<mask>",
        model_max_length=46)


def sentencepiece_file(folder):
    """sentencepiece.bpe.model alone, as the first XLM-RoBERTa repositories have it."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS), model_writer=model, vocab_size=55, model_type="unigram",
        unk_id=0, bos_id=1, eos_id=2, pad_id=-1, minloglevel=2,
        normalization_rule_name="identity")  # the tables of NFKC would take 240 KB
    (folder / "sentencepiece.bpe.model").write_bytes(model.getvalue())


def randomize(model):
    generator = torch.Generator().manual_seed(7)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        gain = "norm" in name.lower() and name.endswith("weight")
        parameter.data = 0.2 * noise + (1.0 if gain else 0.0)
    return model.eval()


def new_folder(name):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def write(folder, **expected):
    (folder / "expected.json").write_text(json.dumps(dict(texts=TEXTS) | expected, indent=1) + "\n")


def sizes_of(tokenizer):
    return dict(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id) | SIZES


def embed(name, model, tokenizer, pooling, normalize, published=lambda folder: None):
    folder = new_folder(name)
    bare = folder / "bare"
    randomize(model).save_pretrained(bare)
    tokenizer.save_pretrained(bare)
    transformer = Transformer(str(bare), model_kwargs=dict(attn_implementation="eager"))
    modules = [transformer, Pooling(SIZES["hidden_size"], pooling)] + [Normalize()] * normalize
    encoder = sentence_transformers.SentenceTransformer(modules=modules, device="cpu")
    encoder.save(str(folder), create_model_card=False)
    shutil.rmtree(bare)
    published(folder)
    write(folder, embeddings=encoder.encode(TEXTS, batch_size=1).tolist())


def vocabulary_text(folder):
    """vocab.txt in place of tokenizer.json."""
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.get)) + "\n")
    (folder / "tokenizer.json").unlink()


def embeddings():
    tokenizer = mpnet_tokenizer()
    embed("embed-mpnet", hf.MPNetModel(hf.MPNetConfig(**sizes_of(tokenizer))), tokenizer, "mean",
          True, vocabulary_text)
    tokenizer = bert_tokenizer()
    embed("embed-bert", hf.BertModel(hf.BertConfig(**sizes_of(tokenizer))), tokenizer, "cls", True)
    embed("embed-nomic-bert", hf.NomicBertModel(hf.NomicBertConfig(**sizes_of(tokenizer))),
          tokenizer, "mean", False)
    tokenizer = byte_level_tokenizer()
    special = dict(bos_token_id=0, eos_token_id=2, cls_token_id=0, sep_token_id=2)
    embed("embed-roberta", hf.RobertaModel(hf.RobertaConfig(
        type_vocab_size=1, **sizes_of(roberta_tokenizer()))), roberta_tokenizer(), "mean", False)
    embed("embed-modernbert", hf.ModernBertModel(hf.ModernBertConfig(
        local_attention=8, **special, **sizes_of(tokenizer))), tokenizer, "cls", True)
    folder = new_folder("scratch")
    sentencepiece_file(folder)
    tokenizer = hf.XLMRobertaTokenizer.from_pretrained(folder, model_max_length=46)
    embed("embed-xlm-roberta", hf.XLMRobertaModel(hf.XLMRobertaConfig(
        type_vocab_size=1, **sizes_of(tokenizer))), tokenizer, "cls", True)
    shutil.rmtree(folder)


def unigram_file(file):
    """A SentencePiece model with DeBERTa's tokens; the mask is none of its pieces."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS), model_writer=model, vocab_size=55, model_type="unigram",
        pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]",
        unk_piece="[UNK]", minloglevel=2, normalization_rule_name="identity")
    file.write_bytes(model.getvalue())


def albert_tokenizer():
    pieces = [("<pad>", 0.0), ("<unk>", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("[MASK]", 0.0)]
    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trained.train_from_iterator([t.lower() for t in TEXTS], trainers.UnigramTrainer(
        vocab_size=60, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False))
    learned = json.loads(trained.to_str())["model"]["vocab"]
    pieces += [tuple(p) for p in learned if p[0] != "<unk>"]
    return hf.AlbertTokenizer(vocab=pieces, model_max_length=48)


def relatives():
    """Encoders whose tokenizers are built by a class of their own."""
    tokenizer = bert_tokenizer()
    embed("embed-electra", hf.ElectraModel(hf.ElectraConfig(embedding_size=12, **sizes_of(tokenizer))),
          tokenizer, "mean", True)
    tokenizer = albert_tokenizer()
    embed("embed-albert", hf.AlbertModel(hf.AlbertConfig(
        embedding_size=12, num_hidden_groups=2, **sizes_of(tokenizer))), tokenizer, "mean", True)
    folder = new_folder("scratch")
    unigram_file(folder / "spm.model")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        dict(tokenizer_class="DebertaV2Tokenizer", model_max_length=48)))
    tokenizer = hf.DebertaV2Tokenizer.from_pretrained(folder)
    config = hf.DebertaV2Config(relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8,
                                max_relative_positions=48, share_att_key=True, norm_rel_ebd="layer_norm",
                                position_biased_input=False, type_vocab_size=0, **sizes_of(tokenizer))

    def published(own):
        shutil.copy(folder / "spm.model", own)
        shutil.copy(folder / "tokenizer_config.json", own)
        (own / "tokenizer.json").unlink()

    embed("embed-deberta-v2", hf.DebertaV2Model(config), tokenizer, "mean", True, published)
    cross = new_folder("rerank-deberta-v2")
    randomize(hf.DebertaV2ForSequenceClassification(hf.DebertaV2Config(
        **config.to_diff_dict() | dict(num_labels=1)))).save_pretrained(cross)
    tokenizer.save_pretrained(cross)
    encoder = sentence_transformers.CrossEncoder(
        str(cross), device="cpu", model_kwargs=dict(attn_implementation="eager"))
    scores = [float(encoder.predict([(QUERY, t)])[0]) for t in TEXTS]
    published(cross)
    write(cross, query=QUERY, sigmoid=scores)
    shutil.rmtree(folder)


def classify():
    folder = new_folder("classify")
    tokenizer = bert_tokenizer()
    model = randomize(hf.BertForSequenceClassification(hf.BertConfig(
        **names(LABELS), **sizes_of(tokenizer) | WIDE, attn_implementation="eager")))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    inputs = [dict(text=t) for t in TEXTS] + [dict(text=a, text_pair=b) for a, b in PAIRS]
    scores = {}
    for problem in ("single_label_classification", "multi_label_classification", "regression"):
        model.config.problem_type = problem
        pipe = hf.pipeline("text-classification", model=model, tokenizer=tokenizer, top_k=None)
        found = [pipe(i, truncation=True) for i in inputs]
        scores[problem] = [[next(l["score"] for l in f if l["label"] == label) for label in LABELS]
                           for f in found]
    write(folder, pairs=PAIRS, labels=LABELS, scores=scores)


def rerank():
    folder = new_folder("rerank")
    sentencepiece_file(folder)
    tokenizer = hf.XLMRobertaTokenizer.from_pretrained(folder, model_max_length=46)
    randomize(hf.XLMRobertaForSequenceClassification(hf.XLMRobertaConfig(
        type_vocab_size=1, num_labels=1, **sizes_of(tokenizer)))).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    encoder = sentence_transformers.CrossEncoder(
        str(folder), device="cpu", model_kwargs=dict(attn_implementation="eager"))
    pairs = [(QUERY, t) for t in TEXTS]
    scores = {name: [float(encoder.predict([p], activation_fn=f)[0]) for p in pairs]
              for name, f in (("sigmoid", None), ("identity", torch.nn.Identity()))}
    (folder / "tokenizer.json").unlink()
    write(folder, query=QUERY, **scores)


# As Qwen3-Reranker's: roles of its own, and an instruction as the system's message.
PAIR_TEMPLATE = (
    "{%- set instruction = messages | selectattr('role', 'eq', 'system') | map(attribute='content') | first "
    "| default('Is it about this?') -%}"
    "<s>Judge. {{ instruction }} Query: {{ messages | selectattr('role', 'eq', 'query') "
    "| map(attribute='content') | first }} Document: {{ messages | selectattr('role', 'eq', 'document') "
    "| map(attribute='content') | first }}</s>{% if add_generation_prompt %} Answer:{% endif %}")


def yes_or_no():
    folder = new_folder("rerank-qwen3")
    tokenizer = roberta_tokenizer()
    tokenizer.chat_template = PAIR_TEMPLATE
    bare = folder / "bare"
    sizes = sizes_of(tokenizer) | dict(max_position_embeddings=200, num_key_value_heads=2, head_dim=8)
    randomize(hf.Qwen3ForCausalLM(hf.Qwen3Config(**sizes))).save_pretrained(bare)
    tokenizer.save_pretrained(bare)
    modules = [Transformer(str(bare), transformer_task="text-generation", max_seq_length=190,
                           model_kwargs=dict(attn_implementation="eager"),
                           processing_kwargs=dict(chat_template=dict(add_generation_prompt=True))),
               sentence_transformers.cross_encoder.modules.LogitScore(true_token_id=40, false_token_id=41)]
    encoder = sentence_transformers.CrossEncoder(modules=modules, device="cpu")
    encoder.save(str(folder), create_model_card=False)
    shutil.rmtree(bare)
    texts = [t for t in TEXTS if t]
    predict = lambda **options: [float(encoder.predict([(QUERY, t)], **options)[0]) for t in texts]
    write(folder, query=QUERY, documents=texts, scores=predict(),
          identity=predict(activation_fn=torch.nn.Identity()),
          prompted=predict(prompt="Does it answer?", activation_fn=torch.nn.Identity()))


def ner():
    folder = new_folder("ner")
    tokenizer = byte_level_tokenizer()
    special = dict(bos_token_id=0, eos_token_id=2, cls_token_id=0, sep_token_id=2)
    model = randomize(hf.ModernBertForTokenClassification(hf.ModernBertConfig(
        local_attention=8, **special, **names(TAGS), **sizes_of(tokenizer),
        attn_implementation="eager")))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    pipe = hf.pipeline("token-classification", model=model, tokenizer=tokenizer,
                       aggregation_strategy="simple")
    entities = [[dict(label=e["entity_group"], score=float(e["score"]), text=e["word"],
                      start=e["start"], end=e["end"])
                 for e in (pipe(t) if t else [])] for t in TEXTS]
    write(folder, entities=entities)


def pairs():
    """pairs.json: what `tokenizers` makes of pairs with the tokenizers of ../tokenizers, whole and
    truncated to 12 tokens."""
    expected = {}
    for file in sorted((HERE.parent / "tokenizers").glob("*.json")):
        if file.stem in ("expected", "offsets", "encodings"):
            continue
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_padding()
        found = []
        for most in (0, 12, 13):
            tokenizer.enable_truncation(most, strategy="longest_first") if most \
                else tokenizer.no_truncation()
            for first, second in (PAIRS + [PAIRS[1][::-1]] if most else PAIRS[:1]):
                try:
                    encoding = tokenizer.encode(first, second)
                except Exception:  # a post-processor without a template for pairs
                    continue
                found.append(dict(first=first, second=second, max_tokens=most, ids=encoding.ids,
                                  types=encoding.type_ids))
        if found:
            expected[file.stem] = found
    lines = ",\n".join(f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, found)) + "]"
                      for name, found in expected.items())
    (HERE / "pairs.json").write_text("{" + lines + "}\n")


def main():
    for name in sys.argv[1:] or ("embeddings", "relatives", "pairs", "classify", "rerank", "yes_or_no", "ner"):
        globals()[name]()


if __name__ == "__main__":
    main()
