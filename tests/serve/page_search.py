"""The tab in which texts are searched by meaning."""

import json
import pathlib
import tempfile

from page_steps import choose, focus, visible

SEA = "The old sailor forgot the sea.\n\nA ship went out."
HOUSE = "# The house\n\n" + "By the river stands an old house that nobody owns. " * 40

STATE = "document.querySelector('#search .state').textContent"
FOUND = "[...document.querySelectorAll('#search .results .text')].map(e => e.textContent)"


def vectors(posted):
    """Of /v1/embeddings: what the sea is about lies in one direction, all else in another."""
    data = [{"index": i, "object": "embedding", "embedding": [1.0, 0.1] if "sea" in text else [0.1, 1.0]}
            for i, text in enumerate(json.loads(posted)["input"])]
    return 200, {"Content-Type": "application/json"}, json.dumps({"object": "list", "data": data, "model": "embedder"})


def token_vectors(posted):
    """Of /embed_all, for tokens(): one vector a word, and those of two special tokens. The first text is the query."""
    lists = []
    for i, text in enumerate(json.loads(posted)["inputs"]):
        other = [0, 0, 1] if i == 0 else [0, 1, 0]
        lists.append([other, *([1, 0, 0] if "sea" in word else other for word in text.split()), [1, 0, 0]])
    return 200, {"Content-Type": "application/json"}, json.dumps(lists)


def tokens(posted):
    texts = ["[CLS]", *json.loads(posted)["text"].split(), "[SEP]"]
    return 200, {"Content-Type": "application/json"}, json.dumps({"texts": texts, "tokens": [], "count": len(texts)})


def passages_are_found_by_meaning(browser):
    browser.click("#tab-search")
    focus(browser, "#search [name=query]")
    browser.type("deep water of the sea")
    browser.key("Enter")
    assert browser.evaluate(visible("#search .hint"))  # there is nothing to search yet
    browser.scripted.update({"/v1/embeddings": vectors, "/embed_all": token_vectors, "/v1/tokenize": tokens})
    with tempfile.TemporaryDirectory() as folder:
        files = {"sea.txt": SEA, "house.md": HOUSE, "empty.txt": "\n"}
        for name, text in files.items():
            pathlib.Path(folder, name).write_text(text)
        browser.choose_files("#search [name=files]", *(pathlib.Path(folder, name) for name in files))
        browser.wait(f"{STATE} === '4 passages of 3 files'")  # a long paragraph is divided at sentences
    browser.wait(f"{FOUND}.length === 4")
    assert not browser.evaluate(visible("#search .hint"))
    assert browser.evaluate(FOUND)[0] == SEA
    assert all(text.endswith(".") for text in browser.evaluate(FOUND))
    assert browser.text("#search .results li:first-child bdi") == "sea.txt"
    browser.wait("document.querySelector('#search mark')")
    assert browser.evaluate("[...document.querySelectorAll('#search mark')].map(e => e.textContent)") == ["sea"]
    # A reranker reads them again.
    assert browser.evaluate("document.querySelector('#search [name=reranker]').options.length") == 2
    choose(browser, "#search [name=reranker]", "reranker")
    browser.wait(f"{FOUND}.length === 4")
    choose(browser, "#search [name=reranker]", "")
    # A file that is removed is found no more.
    browser.click("#search .chip button")
    browser.wait(f"{STATE} === '3 passages of 2 files'")
    browser.wait(f"{FOUND}.length === 3 && !{FOUND}.some((text) => text.includes('sailor'))")
    browser.scripted.clear()


def the_server_marks_what_matches(browser):
    """With the vectors of a real model, whose tokens lie in the text."""
    address = browser.evaluate("location.origin")
    browser.open("about:blank")
    browser.open(address)
    browser.wait(visible("#tab-search"))
    browser.click("#tab-search")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "sea.txt")
        path.write_text(SEA)
        browser.choose_files("#search [name=files]", path)
        browser.wait(f"{STATE} === '1 passage of 1 file'")
    focus(browser, "#search [name=query]")
    browser.type("the sea")
    browser.key("Enter")
    browser.wait("document.querySelector('#search mark')")
    assert browser.evaluate(FOUND) == [SEA]


CHECKS = (passages_are_found_by_meaning, the_server_marks_what_matches)
