// A text as an element for each line, whose words can light up together with the words that they are aligned with.

const WORD = /\S+/g;
const wordsIn = (text) => [...text.matchAll(WORD)];

// The number of the word at an offset of a text; that of the next one between two words.
function wordAt(text, offset) {
  const before = text.slice(0, offset);
  return wordsIn(before).length - (/\S$/.test(before) && /^\S/.test(text.slice(offset)) ? 1 : 0);
}

class TextLines {
  constructor(host) {
    this.host = host;
    this.lines = []; // the texts
  }

  // Shows texts, one to a line; `className(i)` is the class of line i. Elements of lines that stay the same stay.
  show(texts, className = () => "") {
    this.lines = texts;
    const { childNodes } = this.host;
    texts.forEach((text, i) => {
      let element = childNodes[i];
      if (!element || element.nodeName !== "DIV") {
        const made = make("div", "");
        element ? element.replaceWith(made) : this.host.append(made);
        element = made;
      }
      if (!this.isLine(element, text)) element.replaceChildren(text || make("br", ""));
      if (element.className !== className(i)) element.className = className(i);
      element.dir = "auto"; // as a textarea does
    });
    while (childNodes.length > texts.length) this.host.lastChild.remove();
  }

  isLine(element, text) {
    const { firstChild, childNodes } = element;
    return childNodes.length === 1
      && (text ? firstChild.nodeType === Node.TEXT_NODE && firstChild.data === text : firstChild.nodeName === "BR");
  }

  // The range of a word, or nothing if there is no such word.
  range(line, word) {
    const found = wordsIn(this.lines[line] || "")[word];
    return found ? this.rangeOf(line, found.index, found.index + found[0].length) : null;
  }

  // The range between two offsets of a line, or nothing if it is not that long.
  rangeOf(line, begin, end) {
    const node = this.host.childNodes[line]?.firstChild;
    if (node?.nodeType !== Node.TEXT_NODE || node.length < end) return null;
    const range = new Range();
    range.setStart(node, begin);
    range.setEnd(node, end);
    return range;
  }

  // {line, word} at a point of the window, or null.
  at({ clientX: x, clientY: y }) {
    const caret = document.caretPositionFromPoint?.(x, y);
    const found = caret ? [caret.offsetNode, caret.offset] : null;
    const range = !found && document.caretRangeFromPoint?.(x, y);
    const [node, offset] = found || (range ? [range.startContainer, range.startOffset] : [null]);
    const line = node ? [...this.host.childNodes].indexOf(node.parentNode) : -1;
    if (line < 0) return null;
    const around = [offset, offset - 1].map((one) => wordAt(this.lines[line], Math.max(0, one)));
    const isUnder = (word) => [...(this.range(line, word)?.getClientRects() || [])]
      .some((box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
    const word = around.find(isUnder);
    return word === undefined ? null : { line, word };
  }
}

// Gives ranges of the page, and nothing else, the style of a highlight of the style sheet: "lit" or "unsure".
function highlight(name, ranges) {
  if (window.Highlight) CSS.highlights.set(name, new Highlight(...ranges.filter(Boolean)));
}
