"""Compares `heed train` of labels and vectors with PyTorch, transformers 5.24, sentence-transformers 6.2 and peft.

    python tests/judges/encoder_training/check.py build/release/heed

Tiny random checkpoints are trained for 20 steps of AdamW on one batch by heed and by PyTorch; the weights are compared,
and then what heed and the Python library give for the directory that heed wrote. Prints the largest differences and
fails above the limits.
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile

import numpy as np
import torch
import transformers
from sentence_transformers import (CrossEncoder, MultiVectorEncoder, SentenceTransformer, SparseEncoder,
                                   sentence_transformer)
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.cross_encoder import losses as pair_losses
from sentence_transformers.multi_vector_encoder import losses as token_losses
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from sentence_transformers.sparse_encoder import losses as sparse_losses
from transformers import BertConfig, BertTokenizerFast

# Adam divides gradients that are rounding errors by their size: of the biases of keys, which have none.
STEPS, RATE, EPSILON = 20, 1e-3, 1e-5
# Of weights: PyTorch's in f32 are up to 6e-5 from its own in f64 where large dot products are squared.
LIMIT = {"margin-mse": 2e-4}
WORDS = "the sun sea bread light man saw made gave took red two one water old new king says that of".split()
losses = sentence_transformer.losses
torch.set_num_threads(1)


def texts(count, seed, least=2, most=9):
    source = random.Random(seed)
    return [" ".join(source.choices(WORDS, k=source.randint(least, most))) for _ in range(count)]


class Tools:
    def __init__(self, heed, folder):
        self.heed, self.folder = heed, folder

    def run(self, *arguments, text=None):
        result = subprocess.run([self.heed, *map(str, arguments)], input=text, capture_output=True, text=True)
        assert result.returncode == 0, (arguments, result.stderr[-2000:])
        return result.stdout

    def tokenizer(self, folder):
        vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
        (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
        BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
        return transformers.AutoTokenizer.from_pretrained(folder)

    def start(self, name, kind, config=None, **options):
        folder = self.folder / name
        folder.mkdir()
        torch.manual_seed(5)
        config = config or BertConfig(
            vocab_size=len(WORDS) + 5, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=64, max_position_embeddings=64, hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0, classifier_dropout=0.0, initializer_range=0.2, **options)
        kind(config).save_pretrained(folder)
        return folder, self.tokenizer(folder)

    def train(self, start, lines, task, *settings):
        text = self.folder / f"{start.name}.jsonl"
        text.write_text("".join(json.dumps(line) + "\n" for line in lines))
        out = self.folder / f"{start.name}-out"
        self.run("train", "--task", task, "--text", text, "--valid-text", text, "--from", start, "--out", out,
                 *sum((["--set", s] for s in (
                     f"run.max_steps={STEPS}", "run.num_train_epochs=0", "run.compute=f32", "run.token_budget=100000",
                     f"optimizer.learning_rate={RATE}", "optimizer.lr_scheduler_type=constant",
                     "optimizer.warmup_steps=0", f"optimizer.adam_epsilon={EPSILON}", "optimizer.max_grad_norm=0", "optimizer.weight_decay=0",
                     "optimizer.skip_outliers=0", f"validation.eval_steps={STEPS}", *settings)), []))
        return out / "last"


def steps(model, loss):
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.999), eps=EPSILON, weight_decay=0)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    model.eval()


def weight_difference(model, other):
    own = dict(other.named_parameters())
    return max((p - own[n]).abs().max().item() for n, p in model.named_parameters() if "pooler" not in n)


def batch_of(tokenizer, *columns):
    return tokenizer(*columns, padding=True, return_tensors="pt")


def labels(tools):
    """Sequence classification of each kind: name, lines, settings, options of the configuration, the loss."""
    a, b = texts(12, 1), texts(12, 2)
    ce, bce, mse = torch.nn.CrossEntropyLoss(), torch.nn.BCEWithLogitsLoss(), torch.nn.MSELoss()
    classes = torch.tensor([i % 3 for i in range(12)])
    several = torch.tensor([[i % 2, i % 3 == 0, i % 5 == 0] for i in range(12)], dtype=torch.float)
    numbers = torch.tensor([i / 7 for i in range(12)])
    weights = torch.tensor([0.5, 1.0, 2.0])
    names = {"id2label": {0: "x", 1: "y", 2: "z"}, "label2id": {"x": 0, "y": 1, "z": 2}}
    weighted = torch.nn.CrossEntropyLoss(weight=weights, reduction="none")
    positive = torch.nn.BCEWithLogitsLoss(pos_weight=weights)
    given = [["xyz"[i] for i in range(3) if row[i]] for row in several]
    yield "classify", "classify", [{"text": t, "label": "xyz"[i % 3]} for i, t in enumerate(a)], [], (a,), names, \
        lambda x: ce(x, classes)
    yield "weighted", "classify", [{"text": t, "label": "xyz"[i % 3]} for i, t in enumerate(a)], \
        ["classify.class_weights=[0.5, 1.0, 2.0]"], (a,), names, lambda x: weighted(x, classes).mean()
    yield "several", "classify", [{"text": t, "text_pair": p, "labels": g} for t, p, g in zip(a, b, given)], \
        ["classify.multi_label=true"], (a, b), names, lambda x: bce(x, several)
    yield "positive", "classify", [{"text": t, "labels": g} for t, g in zip(a, given)], \
        ["classify.multi_label=true", "classify.class_weights=[0.5, 1.0, 2.0]"], (a,), names, \
        lambda x: positive(x, several)
    yield "score", "score", [{"text": t, "text_pair": p, "score": s} for t, p, s in zip(a, b, numbers.tolist())], [], \
        (a, b), {"num_labels": 1}, lambda x: mse(x[:, 0], numbers)
    yield "rerank", "rerank", [{"query": t, "document": p, "label": i % 2} for i, (t, p) in enumerate(zip(a, b))], [], \
        (a, b), {"num_labels": 1}, lambda x: bce(x[:, 0], (classes * 0 + torch.arange(12) % 2).float())


def check_labels(tools, report):
    kind = transformers.BertForSequenceClassification
    for name, task, lines, settings, columns, options, loss in labels(tools):
        start, tokenizer = tools.start(name, kind, **options)
        model = kind.from_pretrained(start)
        batch = batch_of(tokenizer, *[list(c) for c in columns])
        steps(model, lambda: loss(model(**batch).logits))
        last = tools.train(start, lines, task, *settings)
        opened = transformers.AutoModelForSequenceClassification.from_pretrained(last).eval()
        report(f"{name}: weights after {STEPS} steps", weight_difference(model, opened), 1e-4)
        with torch.no_grad():
            logits = opened(**batch).logits
        if task == "rerank":
            scores = CrossEncoder(str(last)).predict(list(zip(*columns)))
            found = [float(json.loads(tools.run("rerank", "--model", last, "--query", q, "--json",
                                                text=d + "\n").splitlines()[0])["score"]) for q, d in zip(*columns)]
            report(f"{name}: CrossEncoder", np.abs(np.array(found) - scores).max(), 1e-5)
        elif task == "classify" and len(columns) == 1 and "several" not in name and "positive" not in name:
            expected = logits.softmax(-1).max(-1).values.numpy()
            lines_out = [json.loads(x) for x in tools.run("classify", "--model", last, "--json",
                                                          text="\n".join(columns[0]) + "\n").splitlines()]
            found = [max(entry["score"] for entry in x["labels"]) for x in lines_out]
            report(f"{name}: heed classify", np.abs(np.array(found) - expected).max(), 1e-5)


def check_tags(tools, report):
    names = ["O", "B-A", "I-A", "B-B", "I-B"]
    of_labels = dict(id2label=dict(enumerate(names)), label2id={n: i for i, n in enumerate(names)})
    check_tags_of(tools, report, "BERT", names, transformers.BertForTokenClassification, **of_labels)
    check_tags_of(tools, report, "T5", names, transformers.T5ForTokenClassification, t5(**of_labels))


def check_tags_of(tools, report, name, names, kind, config=None, **options):
    start, tokenizer = tools.start(f"tag-{name}", kind, config, **options)
    lines, targets = [], []
    for i, text in enumerate(texts(12, 3, 4)):
        words = text.split()
        first = len(words[0])
        kinds = "AB"[i % 2]
        lines.append({"text": text, "spans": [[0, first + 1 + len(words[1]), kinds]]})
        targets.append([names.index(f"B-{kinds}"), names.index(f"I-{kinds}")] + [0] * (len(words) - 2))
    batch = batch_of(tokenizer, [line["text"] for line in lines])
    expected = torch.full(batch["input_ids"].shape, -100)
    for row, target in enumerate(targets):
        expected[row, 1:1 + len(target)] = torch.tensor(target)
    model = kind.from_pretrained(start)
    steps(model, lambda: model(**batch, labels=expected).loss)
    opened = transformers.AutoModelForTokenClassification.from_pretrained(tools.train(start, lines, "tag")).eval()
    report(f"tag, {name}: weights after {STEPS} steps", weight_difference(model, opened), 1e-4)


def vectors():
    a, b, c = texts(12, 4), texts(12, 5), texts(12, 6)
    scores = [i / 12 for i in range(12)]
    triples = [{"query": x, "document": y, "negative": z} for x, y, z in zip(a, b, c)]
    pairs = [{"text": x, "text_pair": y, "score": s} for x, y, s in zip(a, b, scores)]
    tensor = torch.tensor(scores)
    yield "infonce", triples, [], (a, b, c), None, losses.MultipleNegativesRankingLoss
    yield "matryoshka", triples, ["embed.matryoshka_dims=[32, 8]"], (a, b, c), None, \
        lambda m: losses.MatryoshkaLoss(m, losses.MultipleNegativesRankingLoss(m), [32, 8])
    yield "cosine", pairs, ["embed.loss=cosine"], (a, b), tensor, losses.CosineSimilarityLoss
    yield "cosent", pairs, ["embed.loss=cosent"], (a, b), tensor, losses.CoSENTLoss
    yield "triplet", triples, ["embed.loss=triplet", "embed.margin=1.0"], (a, b, c), None, \
        lambda m: losses.TripletLoss(m, triplet_margin=1.0)
    yield "margin-mse", [{**t, "score": s} for t, s in zip(triples, scores)], ["embed.loss=margin-mse"], (a, b, c), \
        tensor, losses.MarginMSELoss
    yield "kl-divergence", scored(triples, scores), \
        ["embed.loss=kl-divergence", "embed.temperature=0.5", "embed.teacher_temperature=2.0"], (a, b, c), \
        teacher(scores), lambda m: losses.DistillKLDivLoss(m, temperature=0.5, teacher_temperature=2.0)


def scored(triples, scores):
    """With a teacher's scores of the document and the negative."""
    return [{**t, "scores": [3 * s, 1.0]} for t, s in zip(triples, scores)]


def teacher(scores):
    return torch.tensor([[3 * s, 1.0] for s in scores])


def check_vectors(tools, report):
    for name, lines, settings, columns, scores, loss in vectors():
        start, _ = tools.start(name, transformers.BertModel)
        modules = sentence_transformer.modules
        transformer = modules.Transformer(str(start))
        model = SentenceTransformer(modules=[transformer, modules.Pooling(32, "mean"), modules.Normalize()], device="cpu")
        # As the directory that heed writes without modules.json: the mean, normalised.
        apply = loss(model)
        features = [model.preprocess(list(column)) for column in columns]
        steps(model, lambda: apply([dict(f) for f in features], scores))
        last = tools.train(start, lines, "embed", *settings)
        opened = SentenceTransformer(str(last), device="cpu")
        report(f"{name}: weights after {STEPS} steps", weight_difference(model[0].auto_model, opened[0].auto_model), 1e-4)
        expected = opened.encode(list(columns[0]))
        found = np.array([json.loads(x)["embedding"] for x in tools.run(
            "embed", "--model", last, text="\n".join(columns[0]) + "\n").splitlines()])
        report(f"{name}: vectors", np.abs(found - expected).max(), 1e-5)


SHAPE = {"vocab_size": len(WORDS) + 5, "num_hidden_layers": 2, "num_attention_heads": 4, "pad_token_id": 0,
         "bos_token_id": 2, "eos_token_id": 3}


def t5(**options):
    return transformers.T5Config(**SHAPE, d_model=32, d_ff=64, d_kv=8, dropout_rate=0.0, num_layers=2, **options)


def gemma(**options):
    return transformers.Gemma3TextConfig(
        **SHAPE, hidden_size=32, intermediate_size=64, num_key_value_heads=1, head_dim=8, sliding_window=16,
        initializer_range=0.2, max_position_embeddings=64, **options)


def check_decoder(tools, report):
    """Labels by the last state of a decoder."""
    kind = transformers.Gemma3TextForSequenceClassification
    folder, tokenizer = tools.start("gemma-labels", kind, gemma(id2label={0: "x", 1: "y"}, label2id={"x": 0, "y": 1}))
    model, lines = kind.from_pretrained(folder), texts(12, 1)
    batch, classes = batch_of(tokenizer, lines), torch.tensor([i % 2 for i in range(12)])
    steps(model, lambda: torch.nn.functional.cross_entropy(model(**batch).logits, classes))
    last = tools.train(folder, [{"text": t, "label": "xy"[i % 2]} for i, t in enumerate(lines)], "classify")
    opened = transformers.AutoModelForSequenceClassification.from_pretrained(last).eval()
    assert type(opened) is kind, type(opened)
    report(f"Gemma 3: weights after {STEPS} steps", weight_difference(model, opened), 1e-4)
    with torch.no_grad():
        expected = opened(**batch).logits.softmax(-1).max(-1).values.numpy()
    found = [max(entry["score"] for entry in json.loads(x)["labels"]) for x in tools.run(
        "classify", "--model", last, "--json", text="\n".join(lines) + "\n").splitlines()]
    report("Gemma 3: heed classify", np.abs(np.array(found) - expected).max(), 1e-5)


def embedders():
    """With Dense modules as LaBSE, EmbeddingGemma and sentence-T5 have, and other poolings than the mean: name, model,
    configuration, pooling, modules."""
    identity = torch.nn.Identity()
    yield "LaBSE", transformers.BertModel, None, "cls", [Dense(32, 32)]
    yield "EmbeddingGemma", transformers.Gemma3TextModel, gemma(use_bidirectional_attention=True), "mean", [
        Dense(32, 48, bias=False, activation_function=identity), Dense(48, 24, bias=False, activation_function=identity)]
    yield "sentence-T5", transformers.T5EncoderModel, t5(), "mean", [
        Dense(32, 24, bias=False, activation_function=identity)]
    for pooling in "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken", ("mean", "max", "cls"):
        yield f"pooling {pooling}", transformers.BertModel, None, pooling, []


def check_modules(tools, report):
    a, b, c = texts(12, 4), texts(12, 5), texts(12, 6)
    lines = [{"query": x, "document": y, "negative": z} for x, y, z in zip(a, b, c)]
    modules = sentence_transformer.modules
    for name, kind, config, pooling, layers in embedders():
        plain, _ = tools.start(f"{name}-plain", kind, config)
        start = tools.folder / name
        SentenceTransformer(modules=[modules.Transformer(str(plain)), modules.Pooling(32, pooling), *layers,
                                     modules.Normalize()], device="cpu").save(str(start))
        model = SentenceTransformer(str(start), device="cpu")
        apply = losses.MultipleNegativesRankingLoss(model)
        features = [model.preprocess(list(column)) for column in (a, b, c)]
        steps(model, lambda: apply([dict(f) for f in features], None))
        last = tools.train(start, lines, "embed")
        opened = SentenceTransformer(str(last), device="cpu")
        report(f"{name}: weights after {STEPS} steps", weight_difference(model[0].auto_model, opened[0].auto_model), 1e-4)
        for i in range(2, 2 + len(layers)):
            report(f"{name}: weights of Dense module {i}", weight_difference(model[i], opened[i]), 1e-4)
        expected = opened.encode(list(a))
        found = np.array([json.loads(x)["embedding"] for x in tools.run(
            "embed", "--model", last, text="\n".join(a) + "\n").splitlines()])
        report(f"{name}: vectors", np.abs(found - expected).max(), 1e-5)


def check_margins(tools, report):
    """A cross-encoder that learns differences of scores."""
    a, b, c = texts(12, 7), texts(12, 8), texts(12, 9)
    margins = torch.tensor([i / 5 - 1 for i in range(12)])
    start, tokenizer = tools.start("margins", transformers.BertForSequenceClassification, num_labels=1)
    model = CrossEncoder(str(start), device="cpu")
    loss = pair_losses.MarginMSELoss(model)
    steps(model, lambda: loss([a, b, c], margins))
    last = tools.train(start, [{"query": x, "document": y, "negative": z, "score": s} for x, y, z, s in
                               zip(a, b, c, margins.tolist())], "rerank", "rerank.loss=margin-mse")
    opened = CrossEncoder(str(last), device="cpu")
    report(f"margin-mse of pairs: weights after {STEPS} steps", weight_difference(model.model, opened.model), 1e-4)
    expected = opened.predict(list(zip(a, b)), activation_fn=torch.nn.Identity())
    found = [json.loads(x)["score"] for one, other in zip(a, b) for x in tools.run(
        "rerank", "--model", last, "--query", one, "--json", text=other + "\n").splitlines()]
    report("margin-mse of pairs: heed rerank", np.abs(np.array(found) - expected).max(), 1e-5)


def sparse():
    of = sparse_losses
    yield "infonce", lambda m: of.SparseMultipleNegativesRankingLoss(m), [], False
    yield "margin-mse", lambda m: of.SparseMarginMSELoss(m), ["embed.loss=margin-mse"], True
    yield "kl-divergence", lambda m: of.SparseDistillKLDivLoss(m), \
        ["embed.loss=kl-divergence", "embed.temperature=2.0"], True


def check_sparse(tools, report):
    a, b, c = texts(12, 4), texts(12, 5), texts(12, 6)
    scores = [i / 12 for i in range(12)]
    triples = [{"query": x, "document": y, "negative": z} for x, y, z in zip(a, b, c)]
    for name, make, settings, taught in sparse():
        start, _ = tools.start(f"sparse-{name}", transformers.BertForMaskedLM)
        model = SparseEncoder(str(start), device="cpu")
        loss = sparse_losses.SpladeLoss(model, make(model), 0.03, 0.05)
        features = [model.preprocess(list(column)) for column in (a, b, c)]
        steps(model, lambda: sum(loss([dict(f) for f in features], teacher(scores) if taught else None).values()))
        last = tools.train(start, scored(triples, scores) if taught else triples, "embed", "embed.vectors=sparse",
                           "embed.document_flops=0.03", "embed.query_flops=0.05", *settings)
        opened = SparseEncoder(str(last), device="cpu")
        assert [type(m).__name__ for m in opened] == ["Transformer", "SpladePooling"], list(opened)
        report(f"sparse {name}: weights after {STEPS} steps",
               weight_difference(model[0].auto_model, opened[0].auto_model), LIMIT.get(name, 1e-4))
        expected = opened.encode(list(a), convert_to_sparse_tensor=False).numpy()
        found = np.zeros_like(expected)
        for row, line in zip(found, tools.run("embed", "--sparse", "--model", last,
                                              text="\n".join(a) + "\n").splitlines()):
            vector = json.loads(line)
            row[vector["indices"]] = vector["values"]
        report(f"sparse {name}: heed embed --sparse", np.abs(found - expected).max(), 1e-5)


def token_vectors():
    of = token_losses
    yield "infonce", of.MultiVectorMultipleNegativesRankingLoss, [], False
    yield "margin-mse", of.MultiVectorMarginMSELoss, ["embed.loss=margin-mse"], True
    yield "kl-divergence", of.MultiVectorDistillKLDivLoss, ["embed.loss=kl-divergence"], True


def check_tokens(tools, report):
    a, b, c = texts(12, 4), texts(12, 5), texts(12, 6)
    scores = [i / 12 for i in range(12)]
    triples = [{"query": x, "document": y, "negative": z} for x, y, z in zip(a, b, c)]
    for name, make, settings, taught in token_vectors():
        bare, _ = tools.start(f"tokens-{name}-bare", transformers.BertModel)
        torch.manual_seed(6)
        modules = [Transformer(str(bare), query_expansion=dict(strategy="fixed", length=12)),
                   Dense(32, 16, bias=False, activation_function=torch.nn.Identity(),
                         module_input_name="token_embeddings"),
                   MultiVectorMask(["the", "of"]),
                   Normalize(module_input_name="token_embeddings")]
        model = MultiVectorEncoder(modules=modules, device="cpu")
        start = tools.folder / f"tokens-{name}"
        model.save(str(start), create_model_card=False)
        loss = make(model)
        features = [model.preprocess(list(column), task=task)
                    for column, task in ((a, "query"), (b, "document"), (c, "document"))]
        steps(model, lambda: loss([dict(f) for f in features], teacher(scores) if taught else None))
        last = tools.train(start, scored(triples, scores) if taught else triples, "embed", *settings)
        opened = MultiVectorEncoder(str(last), device="cpu")
        assert [type(m).__name__ for m in opened] == [type(m).__name__ for m in model], list(opened)
        difference = max(weight_difference(model[0].auto_model, opened[0].auto_model),
                         weight_difference(model[1], opened[1]))
        report(f"tokens {name}: weights after {STEPS} steps", difference, LIMIT.get(name, 1e-4))
        for task, column in (("query", a), ("document", b)):
            expected = opened.encode_query(list(column)) if task == "query" else opened.encode_document(list(column))
            found = [json.loads(x)["embeddings"] for x in tools.run(
                "embed", "--multi-vector", "--task", task, "--model", last, text="\n".join(column) + "\n").splitlines()]
            report(f"tokens {name}: heed embed of a {task}",
                   max(np.abs(np.array(f) - np.array(e)).max() for f, e in zip(found, expected)), 1e-5)


def check_adapter(tools, report):
    """An adapter of an embedder, in heed and in PEFT."""
    import peft
    start, _ = tools.start("adapted", transformers.BertModel)
    a, b = texts(12, 4), texts(12, 5)
    tools.train(start, [{"query": x, "document": y} for x, y in zip(a, b)], "embed", "lora.enabled=true", "lora.rank=4")
    adapter = tools.folder / "adapted-out"
    found = [json.loads(x)["embedding"] for x in tools.run(
        "embed", "--model", start, "--adapter", adapter, text="\n".join(a) + "\n").splitlines()]
    plain = [json.loads(x)["embedding"] for x in tools.run(
        "embed", "--model", start, text="\n".join(a) + "\n").splitlines()]
    assert np.abs(np.array(found) - np.array(plain)).max() > 1e-3, "the adapter changes nothing"
    transformer = sentence_transformer.modules.Transformer(str(start))
    transformer.auto_model = peft.PeftModel.from_pretrained(transformer.auto_model, str(adapter))
    model = SentenceTransformer(modules=[transformer, sentence_transformer.modules.Pooling(32, "mean")], device="cpu")
    report("adapter: vectors", np.abs(np.array(found) - model.encode(list(a))).max(), 1e-5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heed")
    parser.add_argument("--only", default="labels,margins,tags,decoder,vectors,modules,sparse,tokens,adapter")
    arguments = parser.parse_args()
    failed = []

    def report(name, difference, limit):
        print(f"{name:<45}{difference:10.2e}{'' if difference <= limit else '  ABOVE ' + str(limit)}", flush=True)
        if not difference <= limit:
            failed.append(name)

    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(arguments.heed, pathlib.Path(folder))
        for only in arguments.only.split(","):
            globals()[f"check_{only}"](tools, report)
    assert not failed, failed


if __name__ == "__main__":
    main()
