#!/usr/bin/env python3
"""Searches a folder of text by meaning.

    search.py index FOLDER --model EMBEDDER            reads *.txt and *.md into FOLDER/.search
    search.py find FOLDER QUERY [--reranker RERANKER] [--top N]

heed makes the vectors and reads the best passages again; usearch keeps the vectors and finds the nearest. A passage
is a few paragraphs. Words that match are marked: each is compared with the words of the query by the vectors of
their tokens (MaxSim, Khattab and Zaharia 2020). An index that exists is made anew.

    pip install heed usearch
"""
import argparse
import json
import pathlib
import re
import sys

import heed
import numpy
from usearch.index import Index

PASSAGE_CHARACTERS = 800  # about 200 tokens of English
RERANKED = 30             # passages that the reranker reads again


def passages_of(text):
    """Paragraphs, of which short ones are joined and long ones divided between sentences."""
    pieces = []
    for paragraph in filter(str.strip, re.split(r"\n\s*\n", text)):
        long = len(paragraph) > PASSAGE_CHARACTERS
        pieces += re.split(r"(?<=[.!?…。！？])\s+", paragraph.strip()) if long else [paragraph.strip()]
    passage = ""
    for piece in pieces:
        if passage and len(passage) + len(piece) > PASSAGE_CHARACTERS:
            yield passage
            passage = ""
        passage += ("\n\n" if passage else "") + piece
    if passage:
        yield passage


def make_index(folder, name):
    passages = [{"file": str(path.relative_to(folder)), "text": text}
                for path in sorted(folder.rglob("*")) if path.suffix in (".txt", ".md")
                for text in passages_of(path.read_text(encoding="utf-8"))]
    if not passages:
        sys.exit(f"{folder} has no text in *.txt or *.md")
    model = heed.load(name)
    vectors = model.encode_document([passage["text"] for passage in passages], show_progress_bar=True)
    index = Index(ndim=vectors.shape[1], metric="cos")
    index.add(numpy.arange(len(passages)), vectors)
    store = folder / ".search"
    store.mkdir(exist_ok=True)
    index.save(str(store / "vectors.usearch"))
    (store / "passages.json").write_text(json.dumps({"model": name, "passages": passages}))
    print(f"{len(passages)} passages")


def tokens_of(model, text):
    """The places and vectors of a text's tokens, without special ones."""
    vectors = model.encode(text, output_value="token_embeddings", prompt="")
    vectors = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
    spans = model.tokenizer.encode(text).offsets[: len(vectors)]
    kept = [i for i, (begin, end) in enumerate(spans) if begin < end]
    return [spans[i] for i in kept], vectors[kept]


def marked(model, query, text):
    """The text with *stars* around the words that are nearer to a word of the query than most are."""
    spans, vectors = tokens_of(model, text)
    if len(spans) < 4:
        return text
    scores = (vectors @ tokens_of(model, query)[1].T).max(axis=1)
    limit = scores.mean() + scores.std()
    near = [span for span, score in zip(spans, scores) if score > limit]

    def star(word):
        inside = any(begin < word.end() and end > word.start() for begin, end in near)
        return f"*{word.group()}*" if inside else word.group()

    return re.sub(r"\w+", star, text)


def find(folder, query, reranker, top):
    store = folder / ".search"
    if not store.exists():
        sys.exit(f"{folder} has no index: search.py index {folder} --model EMBEDDER")
    index = Index.restore(str(store / "vectors.usearch"))
    kept = json.loads((store / "passages.json").read_text())
    model = heed.load(kept["model"])
    nearest = index.search(model.encode_query(query), RERANKED if reranker else top)
    found = [(1 - float(match.distance), kept["passages"][match.key]) for match in nearest]
    if reranker:
        ranking = heed.load(reranker).rerank(query, [passage["text"] for _, passage in found])
        found = [(one.score, found[one.index][1]) for one in ranking]
    for score, passage in found[:top]:
        print(f"{score:.3f}  {passage['file']}\n{marked(model, query, passage['text'])}\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    index = commands.add_parser("index", usage=__doc__)
    index.add_argument("folder", type=pathlib.Path)
    index.add_argument("--model", required=True)
    finding = commands.add_parser("find", usage=__doc__)
    finding.add_argument("folder", type=pathlib.Path)
    finding.add_argument("query")
    finding.add_argument("--reranker")
    finding.add_argument("--top", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.command == "index":
        make_index(arguments.folder, arguments.model)
    else:
        find(arguments.folder, arguments.query, arguments.reranker, arguments.top)


main()
