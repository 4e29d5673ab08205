"""The tab in which texts are translated."""

import json
import pathlib
import tempfile

from page_steps import choose, focus, press, refusal, visible


def hover_word(browser, selector, line, word):
    """Points at a word of a line of the translation or its source."""
    x, y = browser.evaluate(f"""(() => {{
        const node = document.querySelectorAll({json.dumps(selector + " > div")})[{line}].firstChild;
        const range = new Range();
        const begin = [...node.data.matchAll(/\\S+/g)][{word}].index;
        range.setStart(node, begin);
        range.setEnd(node, begin + 1);
        const box = range.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    }})()""")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)


LIT = "[...(CSS.highlights.get('lit') || [])].map(String)"
TRANSLATED = "document.querySelector('.translation > div') && !document.querySelector('.translation .pending')"


def translate_while_typing(browser):
    browser.click("#tab-translate")
    browser.wait("document.querySelector('#translate [name=source]').options.length > 100")
    assert browser.evaluate("document.querySelector('#translate [name=target]').selectedOptions[0].text")
    focus(browser, "#translate .source")
    browser.type("The old house.\n\nBy the river.")
    browser.wait("document.querySelectorAll('.translation > div').length === 3")
    browser.wait(TRANSLATED)
    browser.wait(visible(".alternatives li:nth-child(2) button"))
    assert "translator" in browser.text("#translate .state")
    # A word lights up with the words that it is aligned with.
    hover_word(browser, ".translation", 0, 0)
    assert len(browser.evaluate(LIT)) == 2, browser.evaluate(LIT)
    # Another candidate takes the place of the best.
    other = browser.text(".alternatives li:nth-child(2) bdi")
    browser.click(".alternatives li:nth-child(2) button")
    assert browser.evaluate("document.querySelector('.translation > div:last-child').textContent") == other
    # By keys as well.
    focus(browser, ".translation")
    browser.key("ArrowRight")
    assert "←" in browser.text("#translate .state")
    # A language that was not asked for yet.
    choose(browser, "#translate [name=target]", "isl_Latn")
    browser.wait("document.querySelector('.translation').lang === 'is-Latn'")
    browser.wait(TRANSLATED)
    browser.evaluate("document.querySelector('#translate [name=clear]').click()")
    browser.wait("document.querySelector('.translation').textContent === ''")


def source(browser):
    return browser.evaluate("[...document.querySelectorAll('#translate .source > div')].map(e => e.textContent)")


def source_is_edited_as_text(browser):
    focus(browser, "#translate .source")
    browser.type("one")
    browser.key("Enter")
    browser.key("Enter")
    browser.type("two")
    assert source(browser) == ["one", "", "two"], source(browser)
    browser.key("ArrowUp")
    browser.type("between")
    assert source(browser) == ["one", "between", "two"], source(browser)
    browser.key("ArrowDown")
    for _ in range(4):
        browser.key("Backspace")  # joins two lines
    assert source(browser) == ["one", "between"], source(browser)
    browser.type(" and\nbeyond")
    assert source(browser) == ["one", "between and", "beyond"], source(browser)
    for _ in range(30):  # and what other checks have typed
        browser.key("z", modifiers=2)
    assert source(browser) == [""], source(browser)
    browser.key("z", modifiers=2 | 8)
    assert source(browser)[0], source(browser)
    # What is pasted is text.
    browser.evaluate("document.querySelector('#translate [name=clear]').click()")
    browser.evaluate("""(() => {
        const data = new DataTransfer();
        data.setData("text/plain", "<b>a</b>\\r\\nb");
        document.execCommand("insertText", false, data.getData("text/plain"));
    })()""")
    assert source(browser) == ["<b>a</b>", "b"], source(browser)
    browser.evaluate("document.querySelector('#translate [name=clear]').click()")


def translation(body, line):
    """The answer of /v1/translate that says `line(text)`."""
    list_ = [{"index": i, "text": "", "candidates": [{"text": line(text), "score": -1, "alignment": [[0, 0]]}]}
             for i, text in enumerate(json.loads(body)["text"])]
    return 200, {"Content-Type": "application/json"}, json.dumps({"translations": list_})


def lines_stay_aligned(browser):
    asked = []

    def answer(body):
        asked.extend(json.loads(body)["text"])
        return translation(body, lambda text: f"{text.upper()} {text.upper()}" if len(text) > 60 else "short")

    browser.scripted["/v1/translate"] = answer
    focus(browser, "#translate .source")
    wrapping = "a line that wraps in both panes since it is longer than they are wide " * 2
    browser.type("\n".join(["first", wrapping.strip(), "", "then", wrapping.strip() + " again", "last"]))
    browser.wait("document.querySelectorAll('.translation > div').length === 6")
    browser.wait(TRANSLATED)
    tops = "[...document.querySelectorAll('%s > div')].map(e => Math.round(e.getBoundingClientRect().top))"
    left, right = browser.evaluate(tops % ".source"), browser.evaluate(tops % ".translation")
    assert left == right and len(set(left)) == 6, (left, right)
    assert right[2] - right[1] > 100  # the longer side decides
    # A long line is translated by sentences, which light up each by itself.
    browser.evaluate("document.querySelector('#translate [name=clear]').click()")
    asked.clear()
    sentences = [f"This is the sentence number {i} of a long line that nobody has broken." for i in range(60)]
    browser.type(" ".join(sentences))
    browser.wait(TRANSLATED + " && document.querySelector('.translation').textContent.includes('NUMBER 59')")
    assert asked == sentences, asked
    browser.evaluate("scrollTo(0, 0)")
    hover_word(browser, ".source", 0, 14)
    assert browser.evaluate(LIT) == ["This", "THIS"], browser.evaluate(LIT)

    def refuse_long(body):
        if any("wrong" in text for text in json.loads(body)["text"]):
            return refusal(400, "the text has 900 tokens, expected at most 512", 0)
        return translation(body, str.upper)

    # What one line cannot be translated for does not keep the others.
    browser.scripted["/v1/translate"] = refuse_long
    browser.evaluate("document.querySelector('#translate [name=clear]').click()")
    browser.type("right\nwrong\nalso right")
    browser.wait("document.querySelector('.translation .failed')?.textContent.includes('900 tokens')")
    browser.wait("document.querySelector('.translation').textContent.includes('ALSO RIGHT')")
    browser.evaluate("document.querySelector('#translate [name=clear]').click()")
    browser.scripted["/v1/translate"] = None


def languages_are_shown(browser):
    """Of models without a choice."""
    choose(browser, "#translate [name=model]", "en-de")
    browser.wait("document.querySelector('#translate .fixed').textContent === 'From English to German'")
    assert not browser.evaluate(visible("#translate [name=source]"))
    focus(browser, "#translate .source")
    browser.type("the sea")
    browser.wait(TRANSLATED)  # by the languages that the configuration gives it
    assert not browser.evaluate("Boolean(document.querySelector('.translation .failed, #translate .warning'))")
    browser.evaluate("document.querySelector('#translate [name=clear]').click()")
    choose(browser, "#translate [name=model]", "translator")


class Recorder:
    """Answers /v1/translate and keeps what was asked."""

    def __init__(self, browser, **answer):
        self.asked, self.answer = [], answer
        browser.scripted["/v1/translate"] = self

    def __call__(self, body):
        body = json.loads(body)
        self.asked.append(body)
        translations = []
        for i, text in enumerate(body["text"]):
            words = [{"text": word.upper(), "confidence": 0.2 if word == "odd" else 0.9} for word in text.split()]
            one = {"text": text.upper(), "score": -1, "alignment": [], "confidence": 0.75, "words": words}
            translations.append({"index": i, "text": text.upper(), "candidates": [one, one | {"text": text}]})
        return 200, {"Content-Type": "application/json"}, json.dumps({"translations": translations, **self.answer})


def clear(browser):
    browser.evaluate("document.querySelector('#translate [name=clear]').click()")


def uncertain_words_are_underlined(browser):
    browser.click("#tab-translate")
    browser.wait("document.querySelector('#translate [name=source]').options.length > 100")
    answers = Recorder(browser)
    unsure = "[...(CSS.highlights.get('unsure') || [])].map(String)"
    focus(browser, "#translate .source")
    browser.type("an odd house\nand an odd, odd odd sea")
    browser.wait(TRANSLATED)
    assert answers.asked[0]["confidence"] is True
    browser.wait(f"{unsure}.join() === 'ODD,ODD,ODD'")  # not "odd,"
    assert browser.text("#translate .unsure") == "3 uncertain words"
    assert browser.text(".alternatives li:nth-child(1) .note") == "75%"
    clear(browser)
    browser.wait(f"{unsure}.length === 0 && document.querySelector('#translate .unsure').hidden")
    browser.scripted["/v1/translate"] = None


def a_model_without_confidence_translates(browser):
    asked = []

    def answer(body):
        asked.append(json.loads(body).get("confidence"))
        if asked[-1]:
            return refusal(400, "confidence: the model is not calibrated", 0)
        return translation(body, str.upper)

    choose(browser, "#translate [name=model]", "en-de")
    browser.scripted["/v1/translate"] = answer
    focus(browser, "#translate .source")
    browser.type("one")
    browser.wait("document.querySelector('.translation').textContent === 'ONE'")
    browser.type("s")
    browser.wait("document.querySelector('.translation').textContent === 'ONES'")
    assert asked == [True, None, None], asked  # it is asked for once
    clear(browser)
    choose(browser, "#translate [name=model]", "translator")
    browser.scripted["/v1/translate"] = None


def the_source_is_detected(browser):
    answers = Recorder(browser, detected_language={"language": "fr", "probability": 0.9})
    option = "document.querySelector('#translate [name=source]').selectedOptions[0].text"
    before = browser.evaluate("document.querySelector('#translate [name=source]').value")
    choose(browser, "#translate [name=source]", "auto")
    choose(browser, "#translate [name=target]", "isl_Latn")
    assert browser.evaluate(option) == "Detect language"
    assert browser.evaluate("document.querySelector('#translate [name=swap]').disabled")
    text = "La vieille maison au bord de la rivière est vide depuis des années."
    focus(browser, "#translate .source")
    browser.type(text)
    browser.wait(f"{option} === 'French (detected)'")
    browser.wait(TRANSLATED)
    browser.type("\nOui.")
    browser.wait(TRANSLATED)
    browser.wait("document.querySelector('.translation').textContent.includes('OUI.')")
    # A word that is added is in the language of the text, whatever it looks like.
    assert [one["source_language"] for one in answers.asked] == ["auto", "fra_Latn"], answers.asked
    browser.click("#translate [name=swap]")
    values = "[...document.querySelectorAll('#translate .pair select')].map(s => s.value)"
    assert browser.evaluate(values) == ["isl_Latn", "fra_Latn"]
    clear(browser)
    choose(browser, "#translate [name=source]", before)
    browser.scripted["/v1/translate"] = None


ROWS = "[...document.querySelectorAll('.terms .row')].map(r => [...r.querySelectorAll('input')].map(i => i.value))"


def terms_are_edited(browser):
    answers = Recorder(browser)
    choose(browser, "#translate [name=target]", "deu_Latn")
    browser.evaluate("document.querySelector('.terms').open = true")
    for row, (term, translation) in enumerate((("sea", "Meer|See"), ("heed", ""), ("ship", "Schiff"))):
        for side, value in enumerate((term, translation)):
            focus(browser, f".terms .row:nth-child({row + 1}) input:nth-of-type({side + 1})")
            browser.type(value)
        browser.key("Tab")  # leaves the field
        browser.evaluate("document.activeElement.blur()")
    assert browser.evaluate(ROWS) == [["sea", "Meer|See"], ["heed", ""], ["ship", "Schiff"], ["", ""]]
    assert browser.text(".terms summary") == "Terms (3)"
    focus(browser, "#translate .source")
    browser.type("the sea")
    browser.wait(TRANSLATED)
    assert answers.asked[-1]["glossary"] == [{"source": "sea", "target": ["Meer", "See"]},
                                             {"source": "ship", "target": "Schiff"}], answers.asked[-1]
    assert answers.asked[-1]["do_not_translate"] == ["heed"]
    # They belong to a target language; without one they are not asked for.
    choose(browser, "#translate [name=target]", "isl_Latn")
    browser.wait(TRANSLATED)
    assert browser.evaluate(ROWS) == [["", ""]]
    assert "glossary" not in answers.asked[-1] and "do_not_translate" not in answers.asked[-1]
    choose(browser, "#translate [name=target]", "deu_Latn")
    for _ in range(2):
        browser.evaluate("document.querySelector('.terms .row button').click()")
    # A table is pasted.
    browser.evaluate("""(() => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", "house\\tHaus\\r\\nLORD\\n");
        const input = document.querySelector(".terms .row:last-child input");
        input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    })()""")
    assert browser.evaluate(ROWS) == [["ship", "Schiff"], ["house", "Haus"], ["LORD", ""], ["", ""]]
    browser.wait(TRANSLATED)
    for _ in range(3):
        browser.evaluate("document.querySelector('.terms .row button').click()")
    assert browser.text(".terms summary") == "Terms"
    browser.evaluate("document.querySelector('.terms').open = false")
    clear(browser)
    browser.scripted["/v1/translate"] = None


RESULT = "document.querySelector('[name=result]').value"


def a_document_is_translated(browser):
    answers = Recorder(browser)
    press(browser, "Document", "#translate .tools")
    assert not browser.evaluate(visible("#translate .source"))
    page = '<p title="a">The <b>old</b> house</p>'
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "page.html"
        file.write_text(page)
        browser.choose_files("#translate [name=file]", file)
        browser.wait(f"document.querySelector('[name=document]').value === {json.dumps(page)}")
    assert browser.evaluate("document.querySelector('[name=format]').value") == "html"
    assert not browser.evaluate(visible("[name=download]"))
    press(browser, "Translate", ".document")
    browser.wait(f"{RESULT} === {json.dumps(page.upper())}")
    asked = answers.asked[-1]
    assert asked["document"] is True and asked["format"] == "html" and asked["text"] == [page], asked
    # It is a file again.
    browser.evaluate("HTMLAnchorElement.prototype.click = function () { window.saved = this.download; }")
    browser.evaluate("document.querySelector('[name=download]').click()")
    target = browser.evaluate("document.querySelector('#translate [name=target]').value")
    assert browser.evaluate("window.saved") == f"page.{target}.html"
    # What is wrong with it is said there, and nothing of the last one stays.
    browser.scripted["/v1/translate"] = lambda body: refusal(400, "the document is not XML: line 2", 0)
    choose(browser, "[name=format]", "xml")
    press(browser, "Translate", ".document")
    browser.wait("document.querySelector('.document .state').textContent === 'The document is not XML: line 2.'")
    assert browser.evaluate(RESULT) == ""
    # A file that is dropped opens the pane; a name that says nothing is a text.
    press(browser, "Text", "#translate .tools")
    browser.evaluate("""(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(["1\\n00:00:01,000 --> 00:00:02,000\\nHello\\n"], "film.SRT"));
        const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
        document.querySelector("#translate .source").dispatchEvent(drop);
    })()""")
    browser.wait("document.querySelector('[name=format]').value === 'srt'")
    assert browser.evaluate(visible("[name=document]"))
    # It can be stopped.
    browser.scripted["/v1/translate"] = lambda body: refusal(503, "loading", 20)
    press(browser, "Translate", ".document")
    browser.wait("document.querySelector('.document .state').textContent === 'Translating…'")
    press(browser, "Stop", ".document")
    browser.wait("document.querySelector('.document .state').textContent === ''")
    press(browser, "Text", "#translate .tools")
    browser.scripted["/v1/translate"] = None


# The first two come before the server has said that its models are not calibrated.
CHECKS = (uncertain_words_are_underlined, a_model_without_confidence_translates, translate_while_typing,
          source_is_edited_as_text, lines_stay_aligned, languages_are_shown, the_source_is_detected, terms_are_edited,
          a_document_is_translated)
