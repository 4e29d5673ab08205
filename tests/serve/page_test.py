#!/usr/bin/env python3
"""page_test.py HEED: the page of heed serve in a headless Chromium. Ends with 77 if there is none."""

import contextlib
import json
import os
import pathlib
import sys
import tempfile
import time

import page_chat
import page_markdown
import page_search
import page_translate
from devtools import Browser, find_chromium
from page_steps import (EMBEDDER, EN_DE, LAST, READER, RERANKER, TRANSLATOR, WRITER, Server, ask, choose, focus,
                        make_decoder, press, set_field, tabs, visible)


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


# The translators that are loaded.
OFFERED = "[...document.querySelectorAll('#translate [name=model] > option')].map(o => o.value).join()"


def a_page_waits_for_models(browser, server):
    """Opened while the server loads them, it follows by itself; those of a first use offer themselves."""
    listed = [{"id": name, "object": "model", "loaded": False} for name in ("writer", "translator")]
    answer = 200, {"Content-Type": "application/json"}, json.dumps({"object": "list", "data": listed})
    nothing = 200, {"Content-Type": "application/json"}, json.dumps({"object": "list", "data": []})
    browser.scripted["/v1/models"] = [nothing] + [answer] * 2
    browser.scripted["/health"] = [(503, {}, "{}")] * 3
    browser.open("about:blank")
    browser.open(server.address)
    browser.wait("document.querySelector('#notice')?.textContent.includes('loading its models: writer, translator')")
    assert browser.evaluate("document.querySelector('#tab-chat').hidden")
    browser.wait("!document.querySelector('#tab-chat').hidden && document.querySelector('#notice').hidden")
    assert browser.scripted["/v1/models"] == []
    # Nobody has chosen a tab: the first one opens as soon as it can.
    assert browser.text("[role=tab][aria-selected=true]") == "Translate"
    # A server that is started again says less than it did, and the page remembers.
    browser.click("#tab-chat")
    browser.scripted["/v1/models"] = [answer] * 2
    browser.scripted["/health"] = [(503, {}, "{}")] * 2
    browser.evaluate("window.dispatchEvent(new Event('online'))")
    browser.wait("document.querySelector('#notice').textContent.includes('loading its models')")
    assert not browser.evaluate("document.querySelector('#tab-chat').hidden")
    browser.wait("document.querySelector('#notice').hidden")
    # One that a first use loads is loaded by choosing it.
    choose(browser, "#chat [name=model]", "reader")
    browser.wait("document.querySelector('#chat .state').textContent.includes('Loaded, but reader can only')")
    assert browser.evaluate("document.querySelector('#chat [name=model]').value") == "writer"
    browser.wait(f"{OFFERED} === 'translator,en-de,reader'")


def models_of_a_first_use_offer_themselves(browser, server):
    browser.open(server.address)
    browser.wait("document.querySelector('#load .intro')?.textContent.includes('Press')")
    assert tabs(browser) == ["Load"]
    browser.click("#load article button")
    browser.wait("document.querySelector('[role=tab][aria-selected=true]').textContent === 'Translate'")


def load_is_live(browser):
    set_field(browser, "max_tokens", "500000")
    browser.click("#tab-chat")
    ask(browser, "hello")
    browser.wait(f"document.querySelector('{LAST} .content').textContent.length > 10")
    end = int(time.time()) - 1200
    kept = {"interval_seconds": 10, "time": [end - 10 * (90 - i) for i in range(90)], "memory_bytes": [1 << 28] * 90}
    for name in ("output_tokens", "running_requests", "queued_requests", "errors", "refused"):
        kept[name] = [100] * 90
    kept["first_token_seconds_p50"] = [0.25] * 45 + [None] * 45
    browser.scripted["/v1/history"] = [(200, {"Content-Type": "application/json"}, json.dumps(kept))]
    browser.click("#tab-load")
    running = "[...document.querySelectorAll('#load .figure')].find(f => f.textContent.startsWith('Answering'))"
    browser.wait(f"{running}?.querySelector('.value').textContent === '1'")
    card = "[...document.querySelectorAll('#load article')].find(a => a.querySelector('h3').textContent === 'writer')"
    browser.wait(f"parseFloat({card}.querySelector('div:nth-child(2) dd').textContent.replace(',', '')) > 10")
    charts = "[...document.querySelectorAll('#load .chart')].map(e => [e.querySelector('span').textContent, " \
        "e.querySelector('b').textContent, (e.querySelector('.line')?.getAttribute('d') || '').split('L').length])"
    browser.wait(f"{charts}.every(([title, value, points]) => !/Tokens|Requests/.test(title) || points > 2)")
    # What the server has kept is shown, too.
    press(browser, "Last hour", "#load .spans")
    found = {title: (value, points) for title, value, points in browser.evaluate(charts)}
    assert found["Tokens per second"][1] > 20, found  # 15 minutes of it
    assert found["Memory"][0].endswith("MB"), found
    # A model that was not loaded yet.
    assert browser.evaluate(OFFERED) == "translator,en-de"
    browser.evaluate("[...document.querySelectorAll('#load article button')].find(b => b.checkVisibility()).click()")
    browser.wait(f"{OFFERED} === 'translator,en-de,reader'")
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
    browser.wait(f"document.querySelector('{LAST} .content').textContent.length > 10")
    server.end()
    browser.wait(f"document.querySelector('{LAST} .foot').textContent.includes('went away')")
    set_field(browser, "max_tokens", "5")
    ask(browser, "are you there?")
    browser.wait("document.querySelector('#notice').textContent.includes('cannot be reached')")
    # It comes back with fewer models; the question is answered without a further key.
    again = start(WRITER, server.port)
    browser.wait(f"document.querySelector('{LAST} .content').textContent.length > 0")
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
        server = start(WRITER + TRANSLATOR + EN_DE + READER + EMBEDDER + RERANKER)
        browser.open(server.address)
        browser.wait("document.querySelector('#tab-load') && !document.querySelector('#tab-load').hidden")
        assert tabs(browser) == ["Translate", "Chat", "Search", "Attention", "Load"], tabs(browser)
        checks = (*page_translate.CHECKS, *page_chat.CHECKS, *page_markdown.CHECKS, *page_search.CHECKS, attention_is_drawn, load_is_live,
                  keys_and_theme, fits_narrow_screens)
        for check in checks:
            begin = time.monotonic()
            check(browser)
            print(f"{check.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        server.end()
        server = start(WRITER + TRANSLATOR + EN_DE + READER)
        a_page_waits_for_models(browser, server)
        models_of_a_first_use_offer_themselves(browser, start(READER))
        browser.open(server.address)
        browser.wait(visible("#tab-chat"))
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
