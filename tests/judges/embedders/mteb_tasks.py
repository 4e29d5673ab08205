#!/usr/bin/env python3
"""The figures of mteb for heed's Python encoder and for sentence-transformers, with the same model and local texts.

    VENV/bin/python tests/judges/embedders/mteb_tasks.py CORPUS MODEL [--verses N]

VENV has heed, mteb and sentence-transformers; CORPUS is what `scripts/parallel_bible kjv-web CORPUS` wrote, of which
the tasks are made here. Prints every figure, and fails if two differ by more than 0.001.
"""
import argparse
import pathlib
import random
import sys

import heed
import mteb
import numpy
from datasets import Dataset, DatasetDict
from mteb.abstasks import (AbsTaskBitextMining, AbsTaskClassification, AbsTaskClustering, AbsTaskPairClassification,
                           AbsTaskRetrieval, AbsTaskSTS)
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta
from mteb.types import PromptType
from sentence_transformers import SentenceTransformer

LIMIT = 1e-3


class HeedEncoder(AbsEncoder):
    """heed's Python package as an encoder of mteb."""

    def __init__(self, path):
        self.model = heed.load(path)
        self.mteb_model_meta = ModelMeta.create_empty(overwrites={"name": "heed/model", "revision": "none"})

    def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
        texts = [text for batch in inputs for text in batch["text"]]
        encode = {PromptType.query: self.model.encode_query, PromptType.document: self.model.encode_document}
        return encode.get(prompt_type, self.model.encode)(texts)


def metadata(kind, name, score):
    return TaskMetadata(
        type=kind, name=name, main_score=score, description="Verses of two editions.", reference="https://crosswire.org",
        dataset={"path": "NA", "revision": "NA"}, category="t2t", modalities=["text"], eval_splits=["test"],
        eval_langs=["eng-Latn"], date=("1611-01-01", "2020-12-31"), dialect=[], domains=["Religious"], task_subtypes=[],
        license="not specified", annotations_creators="derived", sample_creation="found", bibtex_citation="")


def made(base, kind, score, make, **attributes):
    """A task whose dataset `make` gives."""
    class Task(base):
        def load_data(self, num_proc=None, **kwargs):
            self.dataset = make()
            self.data_loaded = True
    for name, value in attributes.items():
        setattr(Task, name, value)
    Task.metadata = metadata(kind, f"Verses{kind}", score)
    return Task()


def overlap(first, second):
    """Common words of two texts, of all."""
    first, second = set(first.lower().split()), set(second.lower().split())
    return len(first & second) / len(first | second)


def tasks(old, new):
    source = random.Random(1)
    others = new[:]
    source.shuffle(others)
    half = len(old) // 2
    mixed = new[:half] + others[half:]
    pairs = {"sentence1": old, "sentence2": mixed}
    editions = {"text": old + new, "label": [0] * len(old) + [1] * len(new)}
    lengths = {"sentences": new, "labels": [min(len(one.split()) // 10, 5) for one in new]}
    documents = [{"id": f"d{i}", "text": text, "title": ""} for i, text in enumerate(new)]
    queries = [{"id": f"q{i}", "text": text} for i, text in enumerate(old)]
    relevant = {f"q{i}": {f"d{i}": 1} for i in range(len(old))}
    ranked = {query["id"]: [f"d{i}" for i in {n, *source.sample(range(len(new)), 30)}] for n, query in enumerate(queries)}

    def split(top_ranked):
        return {"default": {"test": RetrievalSplitData(queries=Dataset.from_list(queries), corpus=Dataset.from_list(documents),
                                                       relevant_docs=relevant, top_ranked=top_ranked)}}

    def test(columns):
        return lambda: DatasetDict({"test": Dataset.from_dict(columns)})
    yield made(AbsTaskRetrieval, "Retrieval", "ndcg_at_10", lambda: split(None))
    yield made(AbsTaskRetrieval, "Reranking", "map_at_1000", lambda: split(ranked))
    scores = [overlap(a, b) for a, b in zip(old, mixed)]
    yield made(AbsTaskSTS, "STS", "cosine_spearman", test(pairs | {"score": scores}), min_score=0, max_score=1)
    labels = [int(a == b) for a, b in zip(mixed, new)]
    yield made(AbsTaskPairClassification, "PairClassification", "max_ap", test(pairs | {"labels": labels}))
    yield made(AbsTaskBitextMining, "BitextMining", "f1", test({"sentence1": old, "sentence2": new}))
    yield made(AbsTaskClustering, "Clustering", "v_measure", test(lengths), max_fraction_of_documents_to_embed=None,
               max_document_to_embed=len(new))
    yield made(AbsTaskClassification, "Classification", "accuracy",
               lambda: DatasetDict({name: Dataset.from_dict(editions) for name in ("train", "test")}))


def figures_of(model, task):
    [result] = mteb.evaluate(model, task, cache=None, co2_tracker=False, show_progress_bar=False).task_results
    scores = result.scores["test"][0]
    return {name: value for name, value in scores.items() if isinstance(value, (int, float)) and numpy.isfinite(value)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("model")
    parser.add_argument("--verses", type=int, default=200)
    arguments = parser.parse_args()
    old, new = ((arguments.corpus / f"test.{edition}").read_text().splitlines()[:arguments.verses] for edition in ("kjv", "web"))
    ours, theirs = HeedEncoder(arguments.model), SentenceTransformer(arguments.model, device="cpu")
    print(f"mteb {mteb.__version__}, {len(old)} verses\n\n| task | figure | heed | sentence-transformers | figures | "
          "largest difference |\n| --- | --- | --- | --- | --- | --- |")
    largest = 0
    for task, same in zip(tasks(old, new), tasks(old, new)):  # a task draws other samples the second time
        own, other = figures_of(ours, task), figures_of(theirs, same)
        assert own.keys() == other.keys()
        difference = max(abs(own[name] - other[name]) for name in own)
        largest = max(largest, difference)
        print(f"| {task.metadata.type} | {task.metadata.main_score} | {own['main_score']:.4f} | {other['main_score']:.4f} | "
              f"{len(own)} | {difference:.1e} |", flush=True)
    sys.exit(1 if largest > LIMIT else 0)


if __name__ == "__main__":
    main()
