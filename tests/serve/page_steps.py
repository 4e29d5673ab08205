"""What the tests of the page share: a server with tiny models, and what people do with the page."""

import json
import os
import pathlib
import re
import subprocess
import threading

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"

CHAT_TEMPLATE = """\
{%- for message in messages %}{{ message.role + ': ' + message.content + ' ' }}{% endfor %}
{%- if add_generation_prompt %}{{ 'assistant: ' }}{% endif -%}
"""

# Never ends by itself, since it has no end-of-sequence token.
CHAT_CONFIG = {
    "model_type": "llama", "vocab_size": 120, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 2, "max_position_embeddings": 1 << 20, "rms_norm_eps": 1e-5, "hidden_act": "silu",
    "bos_token_id": 1, "eos_token_id": None,
}

WRITER = '[[model]]\nname = "writer"\npath = "decoder"\nrandom_weights = 1\n'
READER = f'[[model]]\nname = "reader"\npath = "{GOLDEN}/translation/mbart-50"\non_first_use = true\n'
EN_DE = (f'[[model]]\nname = "en-de"\npath = "{GOLDEN}/translation/opus-mt"\n'
         'source_language = "en"\ntarget_language = "de"\n')
EMBEDDER = f'[[model]]\nname = "embedder"\npath = "{GOLDEN}/encoders/embed-bert"\n'
RERANKER = f'[[model]]\nname = "reranker"\npath = "{GOLDEN}/encoders/rerank"\n'
TRANSLATOR = f'[[model]]\nname = "translator"\npath = "{GOLDEN}/translation/nllb"\n'


def make_decoder(directory):
    directory.mkdir()
    (directory / "tokenizer.model").write_bytes((GOLDEN / "sentencepiece/bpe.model").read_bytes())
    (directory / "tokenizer_config.json").write_text('{"add_bos_token": false, "add_eos_token": false}')
    (directory / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    (directory / "config.json").write_text(json.dumps(CHAT_CONFIG))


class Server:
    """heed serve with a configuration, in a directory of its own."""

    def __init__(self, heed, directory, models, port=0, settings=""):
        (directory / "serve.toml").write_text(settings + models)
        command = [heed, "serve", "--config", "serve.toml", "--port", str(port)]
        self.process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
        self.port = None
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found.group(1))
                break
        assert self.port, "".join(lines)
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/"

    def end(self):
        self.process.kill()
        self.process.wait()


def tabs(browser):
    return browser.evaluate("[...document.querySelectorAll('[role=tab]:not([hidden])')].map(t => t.textContent)")


def focus(browser, selector):
    browser.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")


def ask(browser, question):
    focus(browser, ".composer textarea")
    browser.type(question)
    browser.key("Enter")


def set_field(browser, name, value):
    browser.evaluate(f"document.querySelector('#chat [name={name}]').value = {json.dumps(value)}")


def choose(browser, selector, value):
    """In a <select>."""
    browser.evaluate(f"""(() => {{
        const select = document.querySelector({json.dumps(selector)});
        select.value = {json.dumps(value)};
        select.dispatchEvent(new Event("change"));
    }})()""")


def visible(selector):
    return f"document.querySelector({json.dumps(selector)})?.checkVisibility()"


def event_stream(*deltas, logprobs=None):
    """Server-sent events of a chat completion."""
    chunks = [{"model": "writer", "choices": [{"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": None}]}
              for delta in deltas]
    chunks.append({"model": "writer", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return 200, {"Content-Type": "text/event-stream"}, body


def refusal(status, message, seconds):
    return status, {"Retry-After": str(seconds)}, json.dumps({"error": {"message": message}})


CHAT = "/v1/chat/completions"
LAST = ".answer:last-child"


def answers(count):
    return f"document.querySelectorAll('.answer:not(.running) .foot:not([hidden])').length === {count}"


def says(browser, text, script=None):
    """The element of an answer of these words, in a new chat."""
    browser.click("#chat [name=new]")
    browser.scripted[CHAT] = [event_stream(*[{"content": part} for part in script or [text]])]
    ask(browser, "Go on")
    browser.wait(answers(1))
    return LAST + " .content"


def tags(browser, selector):
    """The elements in an element, with their texts."""
    return browser.evaluate(f"""[...document.querySelectorAll({json.dumps(selector + " *")})]
        .map((e) => e.tagName.toLowerCase() + ":" + e.textContent)""")


def button(text, within=""):
    """The first button with a text that can be seen."""
    return (f"[...document.querySelectorAll({json.dumps(within + ' button')})]"
            f".find((b) => b.textContent === {json.dumps(text)} && b.checkVisibility())")


def press(browser, text, within=""):
    browser.evaluate(button(text, within) + ".click()")
