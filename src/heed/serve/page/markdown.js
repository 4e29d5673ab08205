// Shows a text in Markdown that grows at its end. Blocks before the last one are made once.

const MAX_MARKDOWN = 200000; // characters; what follows is shown as it is

class MarkdownView {
  constructor(element) {
    this.element = element;
    this.rest = make("p", "text");
    this.clear();
  }

  clear() {
    this.text = "";
    this.settled = 0; // where the last block begins in the text
    this.last = null; // the element of the last block
    this.rest.textContent = "";
    this.element.replaceChildren();
  }

  show(text) {
    if (!text.startsWith(this.text)) this.clear();
    if (text === this.text) return;
    this.text = text;
    const end = text.length > MAX_MARKDOWN ? text.lastIndexOf("\n", MAX_MARKDOWN) + 1 || MAX_MARKDOWN : text.length;
    if (this.settled < end) this.grow(text.slice(this.settled, end));
    if (end === text.length) return;
    this.settled = end;
    if (!this.rest.isConnected) this.element.append(this.rest);
    this.rest.append(text.slice(end + this.rest.textContent.length));
  }

  // tail: the text from the last block on.
  grow(tail) {
    const lines = tail.split("\n");
    const blocks = new BlockParser(lines).parse();
    if (!blocks.length) return;
    const [{ element: first }, ...others] = blocks;
    if (this.last) adopt(this.last, first);
    else this.element.append(first);
    this.element.append(...others.map((block) => block.element));
    this.last = this.element.lastChild;
    const before = lines.slice(0, blocks.at(-1).line);
    this.settled += before.reduce((sum, line) => sum + line.length + 1, 0);
  }
}

// Makes an element what another is, and keeps what they share: what a reader has selected, and where it has scrolled.
function adopt(old, other) {
  if (old.isEqualNode(other)) return;
  const growsOnly = old.nodeType === Node.TEXT_NODE && other.nodeType === Node.TEXT_NODE && other.data.startsWith(old.data);
  if (growsOnly) return old.appendData(other.data.slice(old.data.length));
  if (old.nodeType !== Node.ELEMENT_NODE || !old.cloneNode().isEqualNode(other.cloneNode())) return old.replaceWith(other);
  const children = [...other.childNodes];
  while (old.childNodes.length > children.length) old.lastChild.remove();
  children.forEach((child, i) => (i < old.childNodes.length ? adopt(old.childNodes[i], child) : old.append(child)));
}
