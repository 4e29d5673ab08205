"""Small models for the tests: those of tests/golden, and some with random weights."""

import json
import os
import pathlib

import numpy
import pytest

import heed

os.environ["HF_HUB_OFFLINE"] = "1"
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
CHAT_TEMPLATE = """\
{%- for message in messages %}{{ message.role + ': ' + message.content + ' ' }}{% endfor %}
{%- if add_generation_prompt %}{{ 'assistant: ' }}{% endif -%}
"""


def make_decoder(directory, hidden=64, layers=2, context=1 << 20):
    """A small Llama with a chat template, which never ends by itself, since it has no end-of-sequence token."""
    directory.mkdir(parents=True)
    (directory / "tokenizer.model").write_bytes((GOLDEN / "sentencepiece/bpe.model").read_bytes())
    (directory / "tokenizer_config.json").write_text('{"add_bos_token": false, "add_eos_token": false}')
    (directory / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    config = {
        "model_type": "llama", "vocab_size": 120, "hidden_size": hidden, "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers, "num_attention_heads": 4, "max_position_embeddings": context,
        "rms_norm_eps": 1e-5, "hidden_act": "silu", "bos_token_id": 1, "eos_token_id": None,
    }
    (directory / "config.json").write_text(json.dumps(config))
    return directory


def make_decoder_of_bytes(directory):
    """The same with a token for each byte, so that it can write any text."""
    make_decoder(directory)
    (directory / "tokenizer.model").unlink()
    heed.Tokenizer.train(["the sea"], vocab_size=260).save(directory)
    config = json.loads((directory / "config.json").read_text())
    config.update(vocab_size=260, bos_token_id=None)
    (directory / "config.json").write_text(json.dumps(config))
    return directory


def make_encoder(directory, hidden=64, layers=2, masked=True):
    """A small BERT for masked words, or for embeddings."""
    directory.mkdir(parents=True)
    words = "[PAD] [UNK] [CLS] [SEP] [MASK] the old sea ship went out in"
    (directory / "vocab.txt").write_text("\n".join(words.split()) + "\n")
    config = {
        "model_type": "bert", "vocab_size": 12, "hidden_size": hidden, "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers, "num_attention_heads": 4, "max_position_embeddings": 512, "hidden_act": "gelu",
        "architectures": ["BertForMaskedLM" if masked else "BertModel"],
    }
    (directory / "config.json").write_text(json.dumps(config))
    return directory


def make_adapter(directory, hidden=64, layers=2):
    """A LoRA adapter with random matrices for make_decoder(), as peft writes it."""
    directory.mkdir(parents=True)
    config = {"peft_type": "LORA", "r": 2, "lora_alpha": 64, "target_modules": ["q_proj"], "task_type": "CAUSAL_LM"}
    (directory / "adapter_config.json").write_text(json.dumps(config))
    random, header, data = numpy.random.default_rng(1), {}, b""
    for layer in range(layers):
        for part, shape in (("A", (2, hidden)), ("B", (hidden, 2))):
            matrix = random.standard_normal(shape, dtype=numpy.float32).tobytes()
            header[f"base_model.model.model.layers.{layer}.self_attn.q_proj.lora_{part}.weight"] = {
                "dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(matrix)]}
            data += matrix
    head = json.dumps(header).encode()
    (directory / "adapter_model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    return directory


def make_training_text(directory):
    """Sentences and their translations, word for word, and a configuration for a tiny run on them."""
    words = [("one", "uno"), ("two", "dos"), ("red", "rojo"), ("sun", "sol"), ("sea", "mar"), ("bread", "pan")]
    picks = numpy.random.default_rng(4).integers(0, len(words), (200, 4))
    for side, name in enumerate(("train.en", "train.es")):
        (directory / name).write_text("".join(" ".join(words[i][side] for i in row) + "\n" for row in picks))
    (directory / "config.toml").write_text(
        "[vocabulary]\nsize = 60\n[model]\nd_model = 16\nnum_attention_heads = 2\nd_ff = 32\nencoder_layers = 1\n"
        "decoder_layers = 1\n[run]\ntoken_budget = 128\nmax_steps = 6\n"
        "[validation]\neval_steps = 4\nsentences = 4\n")


@pytest.fixture(scope="session")
def decoder_path(tmp_path_factory):
    return make_decoder(tmp_path_factory.mktemp("models") / "decoder")


@pytest.fixture(scope="session")
def decoder(decoder_path):
    return heed.load(decoder_path, random_weights=7)


@pytest.fixture(scope="session")
def masked(tmp_path_factory):
    return heed.load(make_encoder(tmp_path_factory.mktemp("models") / "masked"), random_weights=7)


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    return heed.load(make_encoder(tmp_path_factory.mktemp("models") / "encoder", masked=False), random_weights=7)


@pytest.fixture(scope="session")
def translator():
    return heed.load(GOLDEN / "translation/opus-mt")


@pytest.fixture(scope="session")
def classifier():
    return heed.load(GOLDEN / "encoders/classify")


@pytest.fixture(scope="session")
def reranker():
    return heed.load(GOLDEN / "encoders/rerank")


@pytest.fixture(scope="session")
def ner():
    return heed.load(GOLDEN / "encoders/ner")
