// A text that is edited line by line in place, so that each line can stand beside its translation. A <textarea> cannot
// do that: its lines are as high as they are.

const UNDO_SECONDS = 0.6; // what is typed within them is undone at once
const MAX_UNDO = 200;

class SourceEditor extends TextLines {
  // `changed` is called when the text is another.
  constructor(host, changed) {
    super(host);
    this.changed = changed;
    this.past = []; // the texts before each change, for undo
    this.future = []; // and those that were undone
    this.changedAt = 0;
    try {
      host.contentEditable = "plaintext-only";
    } catch {
      host.contentEditable = "true"; // what is pasted becomes text in read()
    }
    this.show([""]);
    host.addEventListener("input", (event) => { if (!event.isComposing) this.read(); });
    host.addEventListener("compositionend", () => this.read());
    host.addEventListener("beforeinput", (event) => this.intercept(event));
    host.addEventListener("keydown", (event) => this.onKey(event));
  }

  get text() { return this.lines.join("\n"); }
  set text(text) { this.change(text, text.length); }

  show(texts) {
    super.show(texts);
    this.host.classList.toggle("empty", texts.length === 1 && !texts[0]);
  }

  // ---- the caret, as an offset of the text ----

  // Of a place in the page; that of the end if it is elsewhere.
  offsetOf(node, offset) {
    if (!this.host.contains(node)) return this.text.length;
    const before = new Range();
    before.setStart(this.host, 0);
    before.setEnd(node, offset);
    return linesIn(before.cloneContents()).join("\n").length;
  }

  get selected() {
    const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection();
    const ends = [this.offsetOf(anchorNode, anchorOffset), this.offsetOf(focusNode, focusOffset)];
    return ends.sort((a, b) => a - b);
  }

  // {line, offset} of the caret.
  get caret() {
    const lines = this.text.slice(0, this.selected[1]).split("\n");
    return { line: lines.length - 1, offset: lines.at(-1).length };
  }

  place(caret) {
    const lines = this.text.slice(0, caret).split("\n");
    const line = this.host.childNodes[lines.length - 1];
    const node = line.firstChild.nodeType === Node.TEXT_NODE ? line.firstChild : line;
    getSelection().collapse(node, node === line ? 0 : lines.at(-1).length);
    const box = line.getBoundingClientRect();
    if (box.bottom > innerHeight || box.top < 0) line.scrollIntoView({ block: "nearest" });
  }

  // ---- changes ----

  change(text, caret) {
    this.remember(text);
    this.show(text.split("\n"));
    if (document.activeElement === this.host) this.place(caret);
    this.changed();
  }

  // What the browser has changed.
  read() {
    const lines = linesIn(this.host);
    const text = (lines.length ? lines : [""]).join("\n");
    const caret = this.selected[1];
    const isTidy = this.host.childNodes.length === lines.length
      && lines.every((line, i) => this.isLine(this.host.childNodes[i], line));
    this.remember(text);
    this.show(text.split("\n"));
    if (!isTidy) this.place(Math.min(caret, text.length));
    this.changed();
  }

  // What has several lines is inserted here; browsers differ in how they would.
  intercept(event) {
    const { inputType } = event;
    const data = event.dataTransfer?.getData("text/plain") ?? event.data ?? "";
    const insert = inputType === "insertParagraph" || inputType === "insertLineBreak" ? "\n"
      : /^insert/.test(inputType) && !event.isComposing && /[\r\n]/.test(data) ? data.replace(/\r\n?/g, "\n") : "";
    const undo = { historyUndo: -1, historyRedo: 1 }[inputType];
    if (!insert && !undo) return;
    event.preventDefault();
    if (undo) return this.travel(undo);
    const [start, end] = this.selected;
    this.change(this.text.slice(0, start) + insert + this.text.slice(end), start + insert.length);
  }

  onKey(event) {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== "z" && key !== "y")) return;
    event.preventDefault();
    this.travel(key === "y" || event.shiftKey ? 1 : -1);
  }

  // Keeps the text before a change, unless it goes on with the one before.
  remember(text) {
    if (text === this.text) return;
    const now = performance.now();
    const isOther = Math.abs(text.length - this.text.length) > 1 || now - this.changedAt > 1000 * UNDO_SECONDS;
    if (isOther || !this.past.length) this.past = [...this.past, this.text].slice(-MAX_UNDO);
    this.changedAt = now;
    this.future = [];
  }

  // Undoes or redoes a change.
  travel(by) {
    const [from, to] = by < 0 ? [this.past, this.future] : [this.future, this.past];
    if (!from.length) return;
    to.push(this.text);
    const { past, future } = this;
    const text = from.pop();
    this.change(text, text.length);
    Object.assign(this, { past, future, changedAt: 0 });
  }
}

// The lines that are written in a node: elements of blocks, line breaks and "\n" separate them.
function linesIn(root) {
  const lines = [];
  let isOpen = false; // whether the last line goes on
  const append = (text) => {
    if (!isOpen) lines.push("");
    isOpen = true;
    lines[lines.length - 1] += text;
  };
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      node.data.split("\n").forEach((part, i) => {
        if (i) isOpen = false;
        append(part);
      });
    } else if (node.nodeName === "BR") {
      append("");
      if (node.nextSibling) isOpen = false;
    } else {
      const isBlock = /^(?:DIV|P|LI|UL|OL|H\d|PRE|TR|BLOCKQUOTE)$/.test(node.nodeName);
      if (isBlock) isOpen = false;
      node.childNodes.forEach(visit);
      if (isBlock && !node.childNodes.length) append("");
      if (isBlock) isOpen = false;
    }
  };
  root.childNodes.forEach(visit);
  return lines;
}
