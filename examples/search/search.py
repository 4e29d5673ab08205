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
import collections
import json
import pathlib
import re
import sys
import unicodedata

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


def plain(text):
    """Without capitals and accents, which a tokenizer may remove."""
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))


def tokens_of(model, text):
    """The places and vectors of a text's tokens, without special ones, which do not stand in it."""
    vectors = model.encode(text, output_value="token_embeddings", prompt="")
    vectors = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
    spans, kept, at = [], [], 0
    for i, token in enumerate(model.tokenize(text)[: len(vectors)]):
        wanted = plain(re.sub(r"^##|^[▁Ġ]", "", model.token_text(token)).strip())
        begin = at
        while begin < len(text) and text[begin].isspace():
            begin += 1
        end = begin
        while end < len(text) and len(plain(text[begin:end])) < len(wanted):
            end += 1
        if wanted and plain(text[begin:end]) == wanted:
            spans.append((begin, end))
            kept.append(i)
            at = end
    return spans, vectors[kept]


def common_words(passages):
    """The words that many of the passages have, such as "the": they say little. None of a few passages."""
    counts = collections.Counter(word for one in passages for word in set(re.findall(r"\w+", one["text"].lower())))
    return {word for word, count in counts.items() if len(passages) >= 20 and count > 0.2 * len(passages)}


def marked(model, query, text, common):
    """The text with *stars* around the words that are nearer to a word of the query than most are."""
    spans, vectors = tokens_of(model, text)
    if len(spans) < 4:
        return text
    scores = (vectors @ tokens_of(model, query)[1].T).max(axis=1)
    limit = scores.mean() + scores.std()
    near = [span for span, score in zip(spans, scores) if score > limit]

    def star(word):
        inside = any(begin < word.end() and end > word.start() for begin, end in near)
        return f"*{word.group()}*" if inside and word.group().lower() not in common else word.group()

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
    common = common_words(kept["passages"])
    for score, passage in found[:top]:
        print(f"{score:.3f}  {passage['file']}\n{marked(model, query, passage['text'], common)}\n")


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
