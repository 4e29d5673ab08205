"""The tab for conversations."""

import json
import pathlib
import tempfile
import time

from devtools import PATIENCE
from page_steps import CHAT, LAST, answers, ask, event_stream, focus, press, refusal, set_field, visible


def chat_streams_and_stops(browser):
    browser.click("#tab-chat")
    set_field(browser, "max_tokens", "500000")
    ask(browser, "the <b>sheep</b>")
    browser.wait("document.querySelector('.content').textContent.length > 200")
    before = len(browser.text(".content"))
    browser.wait(f"document.querySelector('.content').textContent.length > {before}")  # it grows
    browser.click("[name=stop]")
    browser.wait(visible("[name=send]"))
    assert "Stopped by you." in browser.text(".answer .foot")
    length = len(browser.text(".content"))
    time.sleep(0.3)
    assert len(browser.text(".content")) == length
    assert browser.text(".question") == "the <b>sheep</b>" and browser.text(".model") == "writer"
    assert browser.evaluate("document.querySelectorAll('.log b').length") == 0
    # The server computes no more.
    idle = 'heed_running_requests{model="writer"} 0'
    browser.wait(f"(await (await fetch('/metrics')).text()).includes('{idle}')")


def chat_branches(browser):
    set_field(browser, "max_tokens", "12")
    set_field(browser, "seed", "7")
    set_field(browser, "temperature", "1")
    browser.click("#chat [name=new]")
    ask(browser, "first")
    browser.wait(answers(1))
    first = browser.text(".content")
    assert "12 tokens" in browser.text(".answer .foot") and "Stopped at the token limit." in browser.text(".answer .foot")
    assert "seed 7" in browser.text(".answer .foot")
    # Again, with another seed, as a second version.
    press(browser, "Regenerate", ".answer")
    browser.wait("document.querySelector('.answer .versions').textContent.includes('2/2') && " + answers(1))
    second = browser.text(".content")
    assert second != first and "seed 8" in browser.text(".answer .foot")
    ask(browser, "next")
    browser.wait(answers(2))
    browser.evaluate("document.querySelector('.answer [aria-label=\"Previous version\"]').click()")
    assert browser.text(".content") == first
    assert browser.evaluate("document.querySelectorAll('.asked').length") == 1  # what followed belongs to the other
    browser.evaluate("document.querySelector('.answer [aria-label=\"Next version\"]').click()")
    assert browser.evaluate("document.querySelectorAll('.asked').length") == 2
    # A question is edited; the first one stays.
    press(browser, "Edit", ".asked")
    browser.evaluate("document.querySelector('.editing textarea').value = ''")
    focus(browser, ".editing textarea")
    browser.type("edited")
    browser.key("Enter")
    browser.wait("document.querySelector('.asked .versions').textContent.includes('2/2') && " + answers(1))
    assert browser.text(".question") == "edited"
    # A reload keeps all branches.
    browser.evaluate("location.reload()")
    browser.wait("document.querySelector('.asked .versions')?.textContent.includes('2/2')")
    browser.wait(visible("#chat [name=new]"))
    browser.evaluate("document.querySelector('.asked [aria-label=\"Previous version\"]').click()")
    assert browser.evaluate("[...document.querySelectorAll('.question')].map(e => e.textContent)") == ["first", "next"]
    browser.click("#chat [name=new]")
    assert browser.evaluate("document.querySelectorAll('.asked').length") == 0
    set_field(browser, "seed", "")


def chat_sends_files_and_counts_tokens(browser):
    with tempfile.TemporaryDirectory() as name:
        sends_files(browser, pathlib.Path(name))


def sends_files(browser, directory):
    (directory / "notes.md").write_text("the sea\n```\nthe ship\n```\n")
    (directory / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    browser.choose_files("#chat [name=files]", directory / "notes.md", directory / "picture.png")
    browser.wait(visible(".chip"))
    browser.wait("document.querySelector('#chat .state').textContent.includes('picture.png is none')")
    browser.wait("/^[1-9]\\d* of [\\d,]+ tokens$/.test(document.querySelector('.meter').textContent)")
    sent = []

    def answer(body):
        sent.append(json.loads(body))
        return event_stream({"content": "Read."})

    browser.scripted[CHAT] = answer
    ask(browser, "What does it say?")
    browser.wait(answers(1))
    assert sent[0]["messages"] == [{"role": "user", "content": "What does it say?\n\nnotes.md:\n````\nthe sea\n```\nthe ship\n"
                                                               "```\n````"}], sent
    assert not browser.evaluate(visible(".chip")) and browser.text(".file summary") == "notes.md 4 lines"
    # The whole conversation, as files.
    browser.scripted[CHAT] = None
    saved = directory / "saved"
    saved.mkdir()
    browser.save_downloads(saved)
    for name in ("markdown", "json"):
        browser.evaluate("document.querySelector('.menu').open = true")
        browser.click(f".menu [name={name}]")
        browser.wait("!document.querySelector('.menu').open")
    deadline = time.monotonic() + PATIENCE
    while len(list(saved.glob("*.md")) + list(saved.glob("*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
        browser.evaluate("0")
    exported = json.loads(next(saved.glob("*.json")).read_text())
    assert exported["messages"] == sent[0]["messages"] + [{"role": "assistant", "content": "Read."}], exported
    assert exported["answers"][0]["seed"] == sent[0]["seed"]
    markdown = next(saved.glob("*.md")).read_text()
    assert "## You\n\nWhat does it say?" in markdown and markdown.endswith("## writer\n\nRead.\n"), markdown


def chat_folds_reasoning(browser):
    browser.scripted[CHAT] = [event_stream({"reasoning_content": "Let me "}, {"reasoning_content": "<b>think.</b>"},
                                           {"content": "Done."})]
    browser.click("#chat [name=new]")
    ask(browser, "hello")
    browser.wait(answers(1))
    assert browser.text(LAST + " .content") == "Done."
    assert browser.text(LAST + " .reasoning p") == "Let me <b>think.</b>"
    assert not browser.evaluate(f"document.querySelector('{LAST} details').open")


def chat_says_why_it_stopped(browser):
    for reason, words in (("stop", "Complete."), ("length", "Stopped at the token limit."), ("tool_calls", "asked for a tool")):
        status, headers, body = event_stream({"content": "a"})
        browser.scripted[CHAT] = [(status, headers, body.replace('"stop"', json.dumps(reason)))]
        ask(browser, "hello")
        browser.wait(f"document.querySelector('{LAST} .foot .note:last-child')?.textContent.includes('{words}')")


def chat_shows_what_a_schema_forbade(browser):
    why = '"S" cannot follow; expected "t"'
    logprobs = {"content": [{"token": "true", "logprob": -3.0, "top_logprobs": [
        {"token": "Sure", "logprob": -0.1, "forbidden": why}, {"token": "true", "logprob": -3.0}]}]}
    browser.click("#chat [name=new]")
    browser.scripted[CHAT] = [event_stream({"content": "true"}, logprobs=logprobs)]
    set_field(browser, "schema", '{"const": true}')
    ask(browser, "Is it?")
    browser.wait(answers(1))
    browser.evaluate(f"document.querySelector('{LAST} details:not([hidden])').open = true")
    browser.click(LAST + " .token.steered")
    candidates = browser.evaluate(
        f"[...document.querySelectorAll('{LAST} .candidates li')].map(e => [...e.children].map(c => c.textContent))")
    assert candidates == [["Sure", "90.5 %", why], ["true", "4.98 %", "chosen"]], candidates
    # A schema that is no JSON is said before anything is sent.
    set_field(browser, "schema", "{")
    ask(browser, "Is it?")
    browser.wait(f"document.querySelector('{LAST} .foot').textContent.includes('JSON')")
    set_field(browser, "schema", "")


def a_busy_server_is_reported_and_asked_again(browser):
    browser.click("#chat [name=new]")
    browser.scripted[CHAT] = [refusal(429, "256 requests wait already", 1), refusal(503, "models are being loaded", 1),
                              event_stream({"content": "At last."})]
    ask(browser, "hello")
    browser.wait("document.querySelector('#notice').textContent.includes('busy: 256 requests wait already')")
    browser.wait("document.querySelector('#notice').textContent.includes('models are being loaded')")
    browser.wait(f"document.querySelector('{LAST} .content').textContent === 'At last.'")
    browser.wait("document.querySelector('#notice').hidden")
    # What the server refuses for good is said where the answer would be, and can be asked again.
    browser.scripted[CHAT] = [refusal(400, "the input has 9 tokens too many", 0), event_stream({"content": "Now."})]
    ask(browser, "hello")
    browser.wait(f"document.querySelector('{LAST} .foot').textContent.includes('9 tokens too many')")
    press(browser, "Regenerate", LAST)
    browser.wait(f"document.querySelector('{LAST} .content').textContent === 'Now.'")


CHECKS = (chat_streams_and_stops, chat_branches, chat_sends_files_and_counts_tokens, chat_folds_reasoning,
          chat_says_why_it_stopped, chat_shows_what_a_schema_forbade, a_busy_server_is_reported_and_asked_again)
