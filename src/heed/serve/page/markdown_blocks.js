// A text in Markdown as blocks: paragraphs, headings, lists, quotes, code, tables, rules.

const MAX_DEPTH = 8; // of lists and quotes in each other; deeper ones are text
const MAX_COLUMNS = 60; // of a table

// Tabs before the text as spaces.
const untabbed = (line) => line.replace(/^[ \t]*\t/, (space) => space.replaceAll("\t", "    "));
const isBlank = (line) => line.trim() === "";
const indentOf = (line) => line.length - line.trimStart().length;
const isRule = (line) => indentOf(line) < 4 && /^(?:-{3,}|\*{3,}|_{3,})$/.test(line.replace(/\s+/g, ""));
const headingOf = (line) => line.match(/^ {0,3}(#{1,6})(?=\s|$)/);
const isQuote = (line) => /^ {0,3}>/.test(line);

// {indent, fence, language} of a line that begins code, or null.
function fenceOf(line) {
  const found = line.match(/^( {0,3})(`{3,}|~{3,})(.*)$/);
  if (!found || (found[2][0] === "`" && found[3].includes("`"))) return null;
  return { indent: found[1].length, fence: found[2], language: found[3].trim().split(/\s/)[0] };
}

// {indent, width, sign, number} of a line that begins an item of a list, or null. width: of what its text stands after.
function markerOf(line) {
  const found = isRule(line) ? null : untabbed(line).match(/^( *)([-*+]|(\d{1,9})([.)]))( {1,4}(?! )| |\t|$)/);
  if (!found) return null;
  const [marker, indent, sign, number, end] = found;
  return { indent: indent.length, width: Math.max(marker.length, indent.length + 2), marker, sign: end || sign, number };
}

// The cells of a line of a table. "\|" is no end of a cell.
function cellsOf(line) {
  const cells = line.trim().replace(/^\|/, "").split(/(?<!\\)\|/);
  if (cells.length > 1 && isBlank(cells.at(-1))) cells.pop();
  return cells.slice(0, MAX_COLUMNS).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

// The alignments of the columns of a table that begins with this line and the next, or null.
function alignmentsOf(line, next) {
  if (!line.includes("|") || next === undefined || !next.includes("-")) return null;
  const rules = cellsOf(next);
  if (rules.length !== cellsOf(line).length || !rules.every((rule) => /^:?-+:?$/.test(rule))) return null;
  return rules.map((rule) => (rule.endsWith(":") ? (rule.startsWith(":") ? "center" : "right") : ""));
}

// The lines of a text, or of the inside of a list or quote, and the blocks that they begin.
class BlockParser {
  constructor(lines, depth = 0) {
    this.lines = lines;
    this.depth = depth;
    this.at = 0;
  }

  // [{line, element}], where `line` is the first of the block.
  parse() {
    const blocks = [];
    for (;;) {
      while (this.at < this.lines.length && isBlank(this.lines[this.at])) ++this.at;
      if (this.at >= this.lines.length) return blocks;
      blocks.push({ line: this.at, element: this.read() });
    }
  }

  elements() { return this.parse().map((block) => block.element); }

  // Whether a block other than a paragraph begins in a line.
  begins(i) {
    const line = this.lines[i];
    const inside = this.depth < MAX_DEPTH;
    return Boolean(fenceOf(line) || headingOf(line) || isRule(line) || (inside && (isQuote(line) || markerOf(line)))
      || alignmentsOf(line, this.lines[i + 1]));
  }

  // Whether it also ends a paragraph: a number at the beginning of a line may be a part of a sentence.
  interrupts(i) {
    const marker = markerOf(this.lines[i]);
    const vague = marker && ((marker.number && marker.number !== "1") || marker.marker.length >= this.lines[i].length);
    return !vague && this.begins(i);
  }

  read() {
    const line = this.lines[this.at];
    if (!this.begins(this.at)) return this.readParagraph();
    const fence = fenceOf(line);
    if (fence) return this.readCode(fence);
    if (headingOf(line)) return this.readHeading(headingOf(line)[1].length);
    if (isRule(line)) {
      ++this.at;
      return make("hr", "");
    }
    if (this.depth < MAX_DEPTH && isQuote(line)) return this.readQuote();
    const marker = this.depth < MAX_DEPTH && markerOf(line);
    return marker ? this.readList(marker) : this.readTable(alignmentsOf(line, this.lines[this.at + 1]));
  }

  // Until a blank line or another block. Its lines stay lines.
  readParagraph() {
    const first = this.at++;
    while (this.at < this.lines.length && !isBlank(this.lines[this.at]) && !this.interrupts(this.at)) ++this.at;
    return autoDirected("p", ...inlineNodes(this.lines.slice(first, this.at).join("\n").trimEnd()));
  }

  // One level for all: what a model leaves out between its levels would be missing in the outline of the page.
  readHeading(level) {
    const text = this.lines[this.at++].trim().slice(level).trim();
    const element = autoDirected("h3", ...inlineNodes(text.replace(/(?:^|\s)#+$/, "")));
    element.className = `level${level}`;
    return element;
  }

  // Until the same fence, or the end: while a text arrives, its end is not there yet.
  readCode({ indent, fence, language }) {
    const first = ++this.at;
    const ends = (line) => indentOf(line) < 4 && line.trim().length >= fence.length
      && !line.trim().replaceAll(fence[0], "");
    while (this.at < this.lines.length && !ends(this.lines[this.at])) ++this.at;
    const lines = this.lines.slice(first, this.at++).map((line) => line.slice(Math.min(indent, indentOf(line))));
    return codeBlock(lines.join("\n"), language);
  }

  readQuote() {
    const inside = [];
    for (; this.at < this.lines.length && !isBlank(this.lines[this.at]); ++this.at) {
      const line = this.lines[this.at];
      if (!isQuote(line) && (this.begins(this.at) || isBlank(inside.at(-1)))) break;
      inside.push(line.replace(/^ {0,3}> ?/, ""));
    }
    return make("blockquote", "", ...new BlockParser(inside, this.depth + 1).elements());
  }

  // An item that is indented by two more belongs to the item before, as models write it.
  readList(first) {
    const list = make(first.number ? "ol" : "ul", "");
    if (first.number) list.start = Number(first.number);
    for (;;) {
      const marker = this.at < this.lines.length ? markerOf(this.lines[this.at]) : null;
      if (!marker || marker.sign !== first.sign || marker.indent >= first.indent + 2) return list;
      const lines = this.readItem(first.indent, marker);
      const [, box, text] = lines[0].match(/^\[([ xX])\] (.*)$/s) || [];
      if (box) lines[0] = (box === " " ? "☐ " : "☑ ") + text;
      list.append(make("li", "", ...new BlockParser(lines, this.depth + 1).elements()));
    }
  }

  // The lines of an item, without their indentation.
  readItem(indent, marker) {
    const lines = [untabbed(this.lines[this.at++]).slice(marker.marker.length)];
    let blanks = 0;
    for (; this.at < this.lines.length; ++this.at) {
      const line = untabbed(this.lines[this.at]);
      const own = indentOf(line);
      if (isBlank(line)) {
        ++blanks;
        continue;
      }
      if (own < indent + 2 && (blanks || this.begins(this.at))) break;
      lines.push(...Array(blanks).fill(""), line.slice(Math.min(own, marker.width)));
      blanks = 0;
    }
    return lines;
  }

  readTable(alignments) {
    const row = (tag, line) => make("tr", "", ...alignments.map((alignment, i) => {
      const cell = autoDirected(tag, ...inlineNodes(cellsOf(line)[i] || ""));
      cell.className = alignment;
      return cell;
    }));
    const head = make("thead", "", row("th", this.lines[this.at]));
    const body = make("tbody", "");
    for (this.at += 2; this.at < this.lines.length; ++this.at) {
      const line = this.lines[this.at];
      if (isBlank(line) || !line.includes("|")) break;
      body.append(row("td", line));
    }
    return scrollable("Table", make("table", "", head, body));
  }
}

function autoDirected(tag, ...content) {
  const element = make(tag, "", ...content);
  element.dir = "auto";
  return element;
}

// A box that scrolls sideways, by keys as well.
function scrollable(label, content) {
  const box = make("div", "scrollable", content);
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
  return box;
}

function codeBlock(text, language) {
  const code = make("code", "", text);
  const copy = makeButton("plain", "Copy", () => {});
  copyOnClick(copy, () => code.textContent);
  return make("div", "code", make("div", "code-bar", make("span", "", language || "text"), copy),
    scrollable("Code", make("pre", "", code)));
}
