"""The tab in which texts are translated."""

import json

from page_steps import choose, focus, refusal, visible


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
    for _ in range(9):
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


CHECKS = (translate_while_typing, source_is_edited_as_text, lines_stay_aligned, languages_are_shown)
