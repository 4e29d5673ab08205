"""What screenshots.py and accessibility.py show of the page: each tab with something in it.

The models of the tests speak no language, so that answers and translations of people stand in for theirs. Attention and
load are the server's own."""

import json
import math
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/serve"))

import page_steps  # noqa: E402
from devtools import Browser  # noqa: E402

ANSWER = """\
Attention lets every word **look at** every other word. In short:

1. Each token makes a *query*, a *key* and a *value*.
2. The weights are `softmax(QKᵀ / √d)`:
   - a large weight: the token reads much of the other
   - a small one: it ignores it
3. The output is the weighted mean of the values.

## In Python

```python
def attention(q, k, v):
    weights = softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]))
    return weights @ v  # one row for each query, however long this line may be on a phone
```

| part | shape | what it is |
| --- | ---: | --- |
| `Q`, `K` | T × d | what is asked for, what is offered |
| weights | T × T | how much is read from where |

> Attention is all you need. — [Vaswani et al.](https://arxiv.org/abs/1706.03762)
"""

SOURCE = """\
The old house by the river has been empty for years.
Nobody knows who owns it, although the mayor, whose family has lived in the village for longer than anyone can remember, says that it belongs to the church.

In summer the children swim there."""

TRANSLATIONS = {
    SOURCE.split("\n")[0]: ["Das alte Haus am Fluss steht seit Jahren leer.", "Das alte Haus am Fluss ist seit Jahren leer.",
                            "Seit Jahren steht das alte Haus am Fluss leer."],
    SOURCE.split("\n")[1]: [
        "Niemand weiß, wem es gehört, obwohl der Bürgermeister, dessen Familie schon länger im Dorf lebt, als sich "
        "irgendjemand erinnern kann, behauptet, dass es sich im Besitz der Kirchengemeinde befinde und niemals verkauft "
        "werden dürfe.",
        "Keiner weiß, wem es gehört, auch wenn der Bürgermeister sagt, es gehöre der Kirche."],
    SOURCE.split("\n")[3]: ["Im Sommer schwimmen dort die Kinder.", "Im Sommer baden die Kinder dort."],
}


DOCUMENT = """\
<!doctype html>
<title>The old house</title>
<h1>The old house by the river</h1>
<p>It has been <b>empty</b> for years, and <a href="owner.html">nobody knows</a> who owns it.</p>
<ul>
  <li translate="no">Registry no. 1876/4</li>
  <li>In summer the children swim there.</li>
</ul>
"""

TRANSLATED_DOCUMENT = """\
<!doctype html>
<title>Das alte Haus</title>
<h1>Das alte Haus am Fluss</h1>
<p>Es steht seit Jahren <b>leer</b>, und <a href="owner.html">niemand weiß</a>, wem es gehört.</p>
<ul>
  <li translate="no">Registry no. 1876/4</li>
  <li>Im Sommer schwimmen dort die Kinder.</li>
</ul>
"""

UNSURE = ("Kirchengemeinde", "befinde", "baden")  # words of which the model is not sure


def words(text):
    return [{"text": word, "confidence": 0.3 if word.startswith(UNSURE) else 0.95} for word in text.split()]


def translated(body):
    """The answer of /v1/translate."""
    translations = []
    for i, line in enumerate(json.loads(body)["text"]):
        texts = TRANSLATIONS.get(line, [line])
        pairs = [[n, n] for n in range(min(len(line.split()), len(texts[0].split())))]
        candidates = [{"text": text, "score": -0.31 - 0.13 * n, "alignment": pairs, "confidence": 0.84 - 0.17 * n,
                       "words": words(text)} for n, text in enumerate(texts)]
        translations.append({"index": i, "text": texts[0], "candidates": candidates})
    return 200, {"Content-Type": "application/json"}, json.dumps({"translations": translations})


def answered(*parts, tokens=212, reason="stop"):
    chunks = [{"model": "chat", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in parts]
    chunks.append({"model": "chat", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    chunks.append({"model": "chat", "choices": [], "usage": {"prompt_tokens": 96, "completion_tokens": tokens,
                                                             "total_tokens": 96 + tokens}})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return 200, {"Content-Type": "text/event-stream"}, body


def history():
    """The answer of /v1/history: an hour with more to do in its middle."""
    count = 360
    busy = [max(0.0, math.sin(math.pi * i / count)) * (1 + 0.3 * math.sin(i / 3)) for i in range(count)]
    lists = {
        "time": [int(time.time()) - 10 * (count - i) for i in range(count)],
        "output_tokens": [int(900 * b) for b in busy], "running_requests": [int(9 * b) for b in busy],
        "queued_requests": [int(3 * b) for b in busy], "errors": [int(i % 97 == 0) for i in range(count)],
        "refused": [0] * count, "memory_bytes": [int((310 + 120 * min(1, i / 90)) * 2 ** 20) for i in range(count)],
        "first_token_seconds_p50": [0.08 + 0.4 * b if b > 0.1 else None for b in busy]}
    return 200, {"Content-Type": "application/json"}, json.dumps({"interval_seconds": 10, **lists})


class Scenes:
    """A server and a browser; a chat model of one's own in place of a tiny one."""

    def __init__(self, stack, heed, chat_model=None):
        self.directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        page_steps.make_decoder(self.directory / "decoder")
        chat = page_steps.WRITER.replace('"writer"', '"chat"')
        if chat_model:
            chat = f'[[model]]\nname = "chat"\npath = "{pathlib.Path(chat_model).resolve()}"\n'
        self.server = page_steps.Server(heed, self.directory, chat + page_steps.TRANSLATOR + page_steps.READER
                                        + page_steps.EMBEDDER + page_steps.RERANKER)
        stack.callback(self.server.end)
        self.browser = Browser()
        stack.callback(self.browser.close)
        self.browser.scripted["/v1/translate"] = translated

    def open(self, width, height, scheme):
        self.browser.resize(width, height)
        self.browser.prefer(scheme)
        for _ in range(2):
            self.browser.open("about:blank")
            self.browser.open(self.server.address)
            self.browser.wait("document.readyState === 'complete'")
            self.browser.evaluate("sessionStorage.clear(), localStorage.clear()")
        self.browser.wait("document.querySelector('#tab-attention') && !document.querySelector('#tab-attention').hidden")

    def tab(self, name):
        self.browser.evaluate(f"document.querySelector('#tab-{name}').click()")

    def translate(self):
        self.tab("translate")
        page_steps.choose(self.browser, "#translate [name=source]", "eng_Latn")
        page_steps.choose(self.browser, "#translate [name=target]", "deu_Latn")
        page_steps.focus(self.browser, "#translate .source")
        self.browser.type(SOURCE)
        self.browser.wait("document.querySelectorAll('.translation > div').length === 4")
        self.browser.wait("!document.querySelector('.translation .pending')")

    def document(self):
        self.translate()
        page_steps.press(self.browser, "Document", "#translate .tools")
        page_steps.focus(self.browser, "#translate [name=document]")
        self.browser.type(DOCUMENT)
        page_steps.choose(self.browser, "#translate [name=format]", "html")
        self.browser.evaluate("document.querySelector('.terms').open = true")
        for row, (term, translation) in enumerate((("house", "Haus|Gebäude"), ("Registry", ""))):
            for side, value in enumerate((term, translation)):
                page_steps.focus(self.browser, f".terms .row:nth-child({row + 1}) input:nth-of-type({side + 1})")
                self.browser.type(value)
        self.browser.evaluate("document.activeElement.blur()")
        answer = json.dumps({"translations": [{"index": 0, "text": TRANSLATED_DOCUMENT, "candidates": []}]})
        self.browser.scripted["/v1/translate"] = [(200, {"Content-Type": "application/json"}, answer)]
        page_steps.press(self.browser, "Translate", ".document")
        self.browser.wait("document.querySelector('[name=result]').value")
        self.browser.scripted["/v1/translate"] = translated

    def search_empty(self):
        self.tab("search")

    def search(self):
        self.tab("search")
        file = self.directory / "house.txt"
        file.write_text(SOURCE.replace("\n", "\n\n") * 3)
        self.browser.choose_files("#search [name=files]", file)
        self.browser.wait("/1 file$/.test(document.querySelector('#search .state').textContent)")
        page_steps.focus(self.browser, "#search [name=query]")
        self.browser.type("Who owns the house?")
        self.browser.evaluate("document.querySelector('#search form').requestSubmit()")
        self.browser.wait("document.querySelector('#search mark')")

    def ask(self, question):
        page_steps.focus(self.browser, ".composer textarea")
        self.browser.type(question)
        self.browser.evaluate("document.querySelector('.composer').requestSubmit()")

    def chat_empty(self):
        self.tab("chat")

    def chat(self):
        self.tab("chat")
        self.browser.scripted[page_steps.CHAT] = [
            answered({"reasoning_content": "They ask for a short answer with code."}, {"content": ANSWER}),
            answered({"content": "It is the mean of the *values*, weighted by how well"}, reason="length", tokens=12)]
        self.ask("What is attention? Show me code, and a table of the shapes.")
        self.browser.wait("document.querySelectorAll('.answer:not(.running)').length === 1")
        self.ask("And in one sentence?")
        self.browser.wait("document.querySelectorAll('.answer:not(.running)').length === 2")

    def attention(self):
        self.tab("attention")
        page_steps.choose(self.browser, "#attention [name=model]", "chat")
        page_steps.focus(self.browser, "#attention [name=text]")
        self.browser.type("The cat sat on the mat because it was tired of running.")
        self.browser.evaluate("document.querySelector('#attention form').requestSubmit()")
        self.browser.wait("document.querySelector('#attention .attention canvas')")

    def heatmap(self):
        self.attention()
        self.browser.evaluate("document.querySelector('#attention .attention button[value=heatmap]').click()")

    def load(self):
        self.browser.scripted["/v1/history"] = [history()]
        self.tab("load")
        self.browser.wait("document.querySelectorAll('#load .figure').length >= 3")
        self.browser.evaluate("[...document.querySelectorAll('#load .spans button')].at(-1).click()")

    def all(self):
        return {"translate": self.translate, "document": self.document, "chat-empty": self.chat_empty,
                "chat": self.chat, "search-empty": self.search_empty, "search": self.search,
                "attention": self.attention, "heatmap": self.heatmap, "load": self.load}
