// The text of a paragraph in Markdown as nodes: code, emphasis, links. What is not Markdown, HTML above all, stays
// text: nodes are made one by one, never from markup, and only addresses of pages and mailboxes become links.

const MAX_MARKED = 20000; // characters of a paragraph; the marks of a longer one are text
const MAX_NESTING = 12; // of elements in each other
const MAX_ADDRESS = 2000; // characters
const LINK_SCHEMES = ["http", "https", "mailto"];

// The address as a browser understands it, or empty if it must not become a link. A relative one leads nowhere.
function safeAddress(text) {
  try {
    const url = new URL(text);
    return LINK_SCHEMES.includes(url.protocol.slice(0, -1)) ? url.href : "";
  } catch {
    return "";
  }
}

function link(address, ...content) {
  const element = make("a", "", ...content);
  Object.assign(element, { href: address, rel: "noreferrer noopener", target: "_blank", title: address });
  return element;
}

const SPECIAL = /[\\`*_~[\]!<]|http/g; // where a mark or an address may begin
const ADDRESS = /https?\x3a\/\/[^\s<>"`]+/y;
const ANGLED_ADDRESS = /<((?:https?|mailto)\x3a[^\s<>]*)>/y;
const isSpace = (character) => !character || /\s/.test(character);
const isSign = (character) => /[\p{P}\p{S}]/u.test(character);

// A part of the paragraph is {node, depth}, where depth counts the elements in each other, or {run, ...}: a run of
// marks that may begin or end emphasis.
class InlineParser {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.parts = [];
    this.brackets = []; // the indices of the parts "[" that may begin a link
    this.ticks = null; // by length: where runs of ` begin, in reverse order
  }

  // The nodes of the text.
  parse() {
    while (this.at < this.text.length) {
      SPECIAL.lastIndex = this.at;
      const next = SPECIAL.exec(this.text)?.index ?? this.text.length;
      if (next > this.at) this.addText(this.text.slice(this.at, next));
      this.at = next;
      if (next < this.text.length) this.readMark(this.text[next]);
    }
    return this.emphasised(0).map((part) => part.node);
  }

  add(node, depth) { this.parts.push({ node, depth }); }

  addText(text) {
    const last = this.parts.at(-1);
    if (last && last.isText) last.node.data += text;
    else this.parts.push({ node: document.createTextNode(text), depth: 0, isText: true });
  }

  // Reads what begins at a special character; at least this character.
  readMark(mark) {
    const { text, at } = this;
    if (mark === "\\" && at + 1 < text.length && (text[at + 1] === "\n" || isSign(text[at + 1]))) {
      this.addText(text[at + 1]);
      this.at += 2;
      return;
    }
    const read = mark === "`" ? this.readCode() : mark === "]" ? this.readLink()
      : mark === "h" || mark === "<" ? this.readAddress(mark) : "*_~".includes(mark) ? this.readRun(mark)
      : mark === "[" || mark === "!" ? this.readBracket() : false;
    if (read) return;
    this.addText(mark);
    ++this.at;
  }

  readCode() {
    this.ticks ||= Map.groupBy([...this.text.matchAll(/`+/g)].reverse(), (found) => found[0].length);
    let begin = this.at;
    while (this.text[begin] === "`") ++begin;
    const run = this.text.slice(this.at, begin);
    const later = this.ticks.get(run.length) || []; // an escaped "`" shortens its run
    while (later.length && later.at(-1).index < begin) later.pop();
    const end = later.at(-1)?.index;
    this.at = begin;
    if (end === undefined) {
      this.addText(run);
      return true;
    }
    const code = this.text.slice(begin, end);
    this.add(make("code", "", /^ .* $/s.test(code) && code.trim() ? code.slice(1, -1) : code), 1);
    this.at = end + run.length;
    return true;
  }

  // "*", "_" and "~~": what stands around a run says whether it may begin or end emphasis, as CommonMark says.
  readRun(mark) {
    const { text, at } = this;
    let end = at;
    while (text[end] === mark) ++end;
    const [before, after] = [text[at - 1], text[end]];
    const left = !isSpace(after) && (!isSign(after) || isSpace(before) || isSign(before));
    const right = !isSpace(before) && (!isSign(before) || isSpace(after) || isSign(after));
    const inWord = mark === "_" && left && right;
    const known = mark !== "~" || end - at === 2;
    this.parts.push({ run: mark, count: end - at, depth: 0,
      canOpen: known && left && (!inWord || isSign(before)), canClose: known && right && (!inWord || isSign(after)) });
    this.at = end;
    return true;
  }

  readAddress(mark) {
    const pattern = mark === "<" ? ANGLED_ADDRESS : ADDRESS;
    if (mark === "h" && /\w/.test(this.text[this.at - 1] || "")) return false;
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found || found[0].length > MAX_ADDRESS) return false;
    let shown = found.at(-1);
    if (mark === "h") { // a sentence goes on after an address
      while (/[.,;:!?'*_~\]]$/.test(shown) || (shown.endsWith(")") && !shown.includes("("))) shown = shown.slice(0, -1);
    }
    const address = safeAddress(shown);
    if (!address || this.brackets.length) return false; // an address in [...] is its text
    this.add(link(address, shown), 1);
    this.at += mark === "h" ? shown.length : found[0].length;
    return true;
  }

  // "[" begins a link, "![" a picture, of which only a link is shown.
  readBracket() {
    const length = this.text[this.at] === "!" ? 2 : 1;
    if (length === 2 && this.text[this.at + 1] !== "[") return false;
    this.brackets.push(this.parts.length);
    this.add(document.createTextNode(this.text.slice(this.at, this.at + length)), 0);
    this.at += length;
    return true;
  }

  // "](address)" or "](address "title")" ends a link.
  readLink() {
    if (!this.brackets.length) return false;
    const open = this.brackets.pop();
    const rest = this.text.slice(this.at, this.at + MAX_ADDRESS);
    const found = rest.match(/^\]\(\s?(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*))(?:\s"[^"\n]*")?\s?\)/);
    const address = found && safeAddress(found[1] ?? found[2]);
    if (!address) return false;
    const inner = this.emphasised(open + 1);
    const depth = 1 + Math.max(0, ...inner.map((part) => part.depth));
    const isPicture = this.parts[open].node.data === "![";
    const content = inner.length ? inner.map((part) => part.node) : [isPicture ? "picture" : address];
    this.parts.length = open;
    this.add(link(address, ...content), depth);
    this.brackets = []; // no link in a link
    this.at += found[0].length;
    return true;
  }

  // The parts from `first` on, in which runs that belong together have become elements, and the others text.
  emphasised(first) {
    const parts = this.parts.splice(first);
    const done = []; // parts before the one that is read
    for (const part of parts) {
      if (part.canClose) this.close(done, part);
      if (!part.run || part.count > 0) done.push(part);
    }
    return done.map((part) => (part.run ? { node: document.createTextNode(part.run.repeat(part.count)), depth: 0 } : part));
  }

  // Makes elements that end with the run `closer`, of the last parts of `done`.
  close(done, closer) {
    while (closer.count > 0) {
      let open = done.length - 1;
      const fits = (part) => part.run === closer.run && part.canOpen && part.count > 0
        && !((part.canClose || closer.canOpen) && (part.count + closer.count) % 3 === 0 && part.count % 3 !== 0);
      for (const limit = Math.max(0, open - MAX_MARKED / 40); open >= limit && !fits(done[open]);) --open;
      if (open < 0 || !done[open].run || !fits(done[open])) return;
      const inner = done.slice(open + 1);
      const depth = 1 + inner.reduce((most, part) => Math.max(most, part.depth), 0);
      if (depth > MAX_NESTING) return;
      const count = closer.run === "~" ? 2 : Math.min(2, done[open].count, closer.count);
      const nodes = inner.map((part) => part.node || part.run.repeat(part.count));
      const element = make(closer.run === "~" ? "del" : count === 2 ? "strong" : "em", "", ...nodes);
      done.length = open + 1;
      done[open].count -= count;
      closer.count -= count;
      if (!done[open].count) done.pop();
      done.push({ node: element, depth });
    }
  }
}

// The nodes of a paragraph.
function inlineNodes(text) {
  return text.length > MAX_MARKED ? [text] : new InlineParser(text).parse();
}
