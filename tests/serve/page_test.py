#!/usr/bin/env python3
"""page_test.py HEED: the page of heed serve in a headless Chromium. Ends with 77 if there is none."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from devtools import PATIENCE, Browser, find_chromium

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


def translate_while_typing(browser):
    browser.click("#tab-translate")
    browser.wait("document.querySelector('#translate [name=source]').options.length > 100")
    assert browser.evaluate("document.querySelector('#translate [name=target]').selectedOptions[0].text")
    focus(browser, "#translate textarea")
    browser.type("The old house.\n\nBy the river.")
    browser.wait("document.querySelectorAll('.translation > div').length === 3")
    browser.wait("document.querySelector('.translation .word') && !document.querySelector('.translation .pending')")
    browser.wait(visible(".alternatives li:nth-child(2) button"))
    assert "translator" in browser.text("#translate .state")
    # A word lights up with the words that it is aligned with.
    browser.hover(".translation .word")
    assert browser.evaluate("document.querySelectorAll('.translation .lit').length") == 1
    assert browser.evaluate("document.querySelectorAll('.mirror .lit').length") == 1
    # Another candidate takes the place of the best.
    other = browser.text(".alternatives li:nth-child(2) bdi")
    browser.click(".alternatives li:nth-child(2) button")
    assert browser.evaluate("document.querySelector('.translation').innerText").rstrip().endswith(other.rstrip())
    # By keys as well.
    focus(browser, ".translation")
    browser.key("ArrowRight")
    assert "←" in browser.text("#translate .state")
    # A language that was not asked for yet.
    choose(browser, "#translate [name=target]", "isl_Latn")
    browser.wait("document.querySelector('.translation').lang === 'is-Latn'")
    browser.wait("document.querySelector('.translation .word') && !document.querySelector('.translation .pending')")
    browser.evaluate("document.querySelector('#translate [name=clear]').click()")
    browser.wait("document.querySelector('.translation').textContent === ''")


def chat_streams_and_stops(browser):
    browser.click("#tab-chat")
    set_field(browser, "max_tokens", "500000")
    ask(browser, "the <b>sheep</b>")
    browser.wait("document.querySelector('.content').textContent.length > 200")
    before = len(browser.text(".content"))
    browser.wait(f"document.querySelector('.content').textContent.length > {before}")  # it grows
    browser.click("[name=stop]")
    browser.wait(visible("[name=send]"))
    assert "Stopped." in browser.text(".turn .note")
    length = len(browser.text(".content"))
    time.sleep(0.3)
    assert len(browser.text(".content")) == length
    assert browser.text(".question") == "the <b>sheep</b>" and browser.text(".model") == "writer"
    assert browser.evaluate("document.querySelectorAll('.log b').length") == 0
    # The server computes no more.
    idle = 'heed_running_requests{model="writer"} 0'
    browser.wait(f"(await (await fetch('/metrics')).text()).includes('{idle}')")


def chat_regenerates_and_forgets(browser):
    set_field(browser, "max_tokens", "12")
    before = browser.text(".content")
    browser.click(".turn:last-child .foot button:last-child")
    browser.wait(visible("[name=send]") + " && document.querySelector('.turn .note').textContent.includes('tokens')")
    after = browser.text(".content")
    assert after and len(after) < len(before)
    assert "12 tokens" in browser.text(".turn .note") and "longest answer" in browser.text(".turn .note")
    ask(browser, "again")
    browser.wait("document.querySelectorAll('.turn').length === 2")
    browser.wait(visible("[name=send]"))
    # A reload keeps the conversation.
    browser.evaluate("location.reload()")
    browser.wait("document.querySelectorAll('.turn').length === 2")
    browser.wait(visible("#chat [name=new]"))
    browser.click("#chat [name=new]")
    assert browser.evaluate("document.querySelectorAll('.turn').length") == 0


def chat_shows_what_a_model_says_as_text(browser):
    hostile = "<img src=x onerror='document.title=1'><script>document.title=2</script>"
    browser.scripted[CHAT] = [event_stream({"reasoning_content": "Let me "}, {"reasoning_content": "think."},
                                           {"content": hostile})]
    ask(browser, "hello")
    browser.wait(visible(".turn:last-child .foot"))
    assert browser.text(".turn:last-child .content") == hostile
    assert browser.text(".turn:last-child .reasoning p") == "Let me think."
    assert not browser.evaluate("document.querySelector('.turn:last-child details').open")
    assert browser.evaluate("document.querySelectorAll('.log img, .log script').length") == 0
    assert browser.evaluate("document.title") == "heed"


def chat_shows_what_a_schema_forbade(browser):
    why = '"S" cannot follow; expected "t"'
    logprobs = {"content": [{"token": "true", "logprob": -3.0, "top_logprobs": [
        {"token": "Sure", "logprob": -0.1, "forbidden": why}, {"token": "true", "logprob": -3.0}]}]}
    browser.scripted[CHAT] = [event_stream({"content": "true"}, logprobs=logprobs)]
    set_field(browser, "schema", '{"const": true}')
    ask(browser, "Is it?")
    browser.wait(visible(".turn:last-child .foot"))
    browser.evaluate("document.querySelector('.turn:last-child details:not([hidden])').open = true")
    browser.click(".turn:last-child .token.steered")
    candidates = browser.evaluate(
        "[...document.querySelectorAll('.turn:last-child .candidates li')].map(e => [...e.children].map(c => c.textContent))")
    assert candidates == [["Sure", "90.5 %", why], ["true", "4.98 %", "chosen"]], candidates
    # A schema that is no JSON is said before anything is sent.
    set_field(browser, "schema", "{")
    ask(browser, "Is it?")
    browser.wait("document.querySelector('.turn:last-child .note').textContent.includes('JSON')")
    set_field(browser, "schema", "")


def a_busy_server_is_reported_and_asked_again(browser):
    browser.scripted[CHAT] = [refusal(429, "256 requests wait already", 1), refusal(503, "models are being loaded", 1),
                              event_stream({"content": "At last."})]
    ask(browser, "hello")
    browser.wait("document.querySelector('#notice').textContent.includes('busy: 256 requests wait already')")
    browser.wait("document.querySelector('#notice').textContent.includes('models are being loaded')")
    browser.wait("document.querySelector('.turn:last-child .content').textContent === 'At last.'")
    browser.wait("document.querySelector('#notice').hidden")
    # What the server refuses for good is said where the answer would be.
    browser.scripted[CHAT] = [refusal(400, "the input has 9 tokens too many", 0)]
    ask(browser, "hello")
    browser.wait("document.querySelector('.turn:last-child .note').textContent.includes('9 tokens too many')")


def attention_is_drawn(browser):
    browser.click("#tab-attention")
    focus(browser, "#attention [name=text]")
    browser.type("The old house.")
    browser.key("Enter")
    browser.wait("document.querySelector('#attention .attention canvas.sheet')")
    browser.wait("""(() => {
        const canvas = document.querySelector('#attention canvas.sheet');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size > 20;
    })()""")
    assert browser.text("#attention .state") == "Attention of writer"
    # Of a sentence and its translation, in the languages that are chosen.
    choose(browser, "#attention [name=model]", "translator")
    choose(browser, "#attention [name=target]", "isl_Latn")
    focus(browser, "#attention [name=text]")
    browser.key("Enter")
    browser.wait("document.querySelector('#attention .attention').textContent.includes('Cross-attention')")
    assert browser.text("#attention .state") == "Attention of translator"


def load_is_live(browser):
    set_field(browser, "max_tokens", "500000")
    browser.click("#tab-chat")
    ask(browser, "hello")
    browser.wait("document.querySelector('.turn:last-child .content').textContent.length > 10")
    browser.click("#tab-load")
    running = "[...document.querySelectorAll('#load .figure')].find(f => f.textContent.startsWith('Running'))"
    browser.wait(f"{running}?.querySelector('.value').textContent === '1'")
    card = "[...document.querySelectorAll('#load article')].find(a => a.querySelector('h3').textContent === 'writer')"
    browser.wait(f"parseFloat({card}.querySelector('.speed b').textContent.replace(',', '')) > 10")
    browser.wait(f"{card}.querySelector('path.line').getAttribute('d').split('L').length > 2")
    # A model that was not loaded yet.
    offered = "[...document.querySelector('#translate [name=model]').options].map(o => o.value).join()"
    assert browser.evaluate(offered) == "translator"
    browser.evaluate("[...document.querySelectorAll('#load article button')].find(b => b.checkVisibility()).click()")
    browser.wait(f"{offered} === 'translator,reader'")
    browser.click("#tab-chat")
    focus(browser, ".composer textarea")
    browser.key("Escape")
    browser.wait(visible("[name=send]"))
    browser.click("#tab-load")
    browser.wait(f"{running}.querySelector('.value').textContent === '0'")
    asked = len(browser.requests)
    browser.click("#tab-chat")
    time.sleep(1.5)
    browser.evaluate("0")
    assert not any("metrics" in address for address in browser.requests[asked + 1:])  # only while it is open


def keys_and_theme(browser):
    focus(browser, "[role=tab][aria-selected=true]")
    before = browser.evaluate("document.activeElement.textContent")
    browser.key("ArrowRight")
    assert browser.evaluate("document.activeElement.textContent") != before
    assert browser.evaluate("document.activeElement.getAttribute('aria-selected')") == "true"
    background = "getComputedStyle(document.body).backgroundColor"
    browser.prefer("light")
    light = browser.evaluate(background)
    browser.prefer("dark")
    dark = browser.evaluate(background)
    assert light != dark
    browser.click("#theme")
    assert browser.evaluate(background) == light
    browser.click("#theme")
    assert browser.evaluate(background) == dark
    names = browser.evaluate("""[...document.querySelectorAll('input, select, textarea, button')].filter(e =>
        !e.labels?.length && !e.ariaLabel && !e.getAttribute('aria-labelledby') && !e.textContent.trim())
        .map(e => e.outerHTML)""")
    assert names == [], names  # each control has a name


def fits_narrow_screens(browser):
    for width in (320, 390, 820, 1440):
        browser.resize(width, 800)
        for tab in tabs(browser):
            browser.evaluate(f"document.getElementById('tab-{tab.lower()}').click()")
            wide = browser.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{tab} is {wide} pixels wide on a screen of {width}"


def a_server_that_goes_away_is_reported(browser, server, start):
    browser.click("#tab-chat")
    set_field(browser, "max_tokens", "500000")
    ask(browser, "hello")
    browser.wait("document.querySelector('.turn:last-child .content').textContent.length > 10")
    server.end()
    browser.wait("document.querySelector('.turn:last-child .note').textContent.includes('went away')")
    set_field(browser, "max_tokens", "5")
    ask(browser, "are you there?")
    browser.wait("document.querySelector('#notice').textContent.includes('cannot be reached')")
    # It comes back with fewer models; the question is answered without a further key.
    again = start(WRITER, server.port)
    browser.wait("document.querySelector('.turn:last-child .content').textContent.length > 0")
    browser.wait("document.querySelector('#notice').hidden")
    browser.wait("document.querySelector('#tab-translate').hidden")
    return again


def an_api_key_is_asked_for(browser, server):
    browser.open(server.address)
    browser.wait(visible("#key"))
    focus(browser, "#key input")
    browser.type("wrong")
    browser.key("Enter")
    browser.wait("document.querySelector('#key .state').textContent.includes('does not accept')")
    focus(browser, "#key input")
    browser.type("correct")
    browser.key("Enter")
    browser.wait("!document.querySelector('#tab-chat').hidden")
    assert browser.evaluate("sessionStorage.getItem('api_key')") == "correct"
    assert browser.evaluate("localStorage.getItem('api_key')") is None


def main():
    if not find_chromium():
        print("there is no Chromium")
        sys.exit(77)
    heed = os.path.abspath(sys.argv[1])
    with contextlib.ExitStack() as stack:
        directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        make_decoder(directory / "decoder")

        def start(models, port=0, settings=""):
            server = Server(heed, directory, models, port, settings)
            stack.callback(server.end)
            return server

        browser = Browser()
        stack.callback(browser.close)
        server = start(WRITER + TRANSLATOR + READER)
        browser.open(server.address)
        browser.wait("document.querySelector('#tab-load') && !document.querySelector('#tab-load').hidden")
        assert tabs(browser) == ["Translate", "Chat", "Attention", "Load"], tabs(browser)
        for check in (translate_while_typing, chat_streams_and_stops, chat_regenerates_and_forgets,
                      chat_shows_what_a_model_says_as_text, chat_shows_what_a_schema_forbade,
                      a_busy_server_is_reported_and_asked_again, attention_is_drawn, load_is_live, keys_and_theme, fits_narrow_screens):
            check(browser)
            print(check.__name__)
        server = a_server_that_goes_away_is_reported(browser, server, start)
        server.end()
        (directory / "keys.txt").write_text("correct\n")
        (directory / "keys.txt").chmod(0o600)
        keeper = start(WRITER, settings='api_key_file = "keys.txt"\n')
        an_api_key_is_asked_for(browser, keeper)
        assert browser.problems == [], browser.problems
        foreign = [a for a in browser.requests if not a.startswith(("http://127.0.0.1:", "data:"))]
        assert foreign == [], foreign


if __name__ == "__main__":
    main()
