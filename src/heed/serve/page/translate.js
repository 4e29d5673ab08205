// Translation while a text is typed, line by line: what was translated before is not asked for again.

const DEBOUNCE_SECONDS = 0.25;
const CANDIDATES = 4; // the best translation and alternatives, with as many beams
const PIECES_PER_REQUEST = 16; // a long text appears bit by bit
const MAX_KNOWN_PIECES = 5000;
const MAX_FAILURES = 3; // one after the other, until the others are not asked for
const DETECTABLE = 60; // characters that say what language they are in
const UNSURE = 0.5; // the confidence below which a word is more likely wrong than right

class TranslatePanel extends Panel {
  constructor(element, server, models) {
    super(element, server, models, "translate", (model) => this.languages.offer(model));
    this.source = new SourceEditor(this.find(".source"), () => this.edited());
    this.input = this.source.host;
    this.target = new TextLines(this.find(".translation"));
    this.languages = new LanguageChoice(element, () => this.changeLanguage(), { detects: true });
    this.terms = new Terms(this.find(".terms"), () => this.changeTerms());
    this.documents = new DocumentPane(this.find(".document"), this);
    this.alternatives = new Alternatives(this.find(".alternatives"), (piece, i) => this.take(piece, i));
    this.known = new Map(); // candidates by key()
    this.uncalibrated = new Set(); // models that do not know their confidence
    this.failed = new Map(); // why a piece cannot be translated, by key()
    this.chosen = new Map(); // the number of a candidate, by key(), if it is not the best
    this.pieces = []; // of each line
    this.line = 0; // of the caret
    this.place = null; // {line, word} of the translation, moved by keys
    this.request = new AbortController();
    this.modes = segments("", [["text", "Text"], ["document", "Document"]], (mode) => this.open(mode));
    press(this.modes, "text");
    this.find(".tools").append(this.modes);
    this.listen();
  }

  listen() {
    this.find("[name=swap]").addEventListener("click", () => {
      this.source.text = this.target.lines.join("\n");
      this.languages.swap();
    });
    this.find("[name=clear]").addEventListener("click", () => {
      this.input.focus();
      this.source.text = "";
    });
    copyOnClick(this.find("[name=copy]"), () => this.target.lines.join("\n"));
    for (const [lines, side] of [[this.source, 0], [this.target, 1]]) {
      lines.host.addEventListener("pointermove", (event) => this.light(side, lines.at(event)));
      lines.host.addEventListener("pointerleave", () => this.light(side, null));
    }
    const { element } = this;
    element.addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); });
    element.addEventListener("drop", (event) => this.takeFiles(event, event.dataTransfer.files));
    element.addEventListener("paste", (event) => { // a text is often copied with a picture of it
      const { files } = event.clipboardData;
      this.takeFiles(event, event.clipboardData.getData("text/plain") ? [] : files);
    });
    for (const type of ["keyup", "click"]) this.input.addEventListener(type, () => this.followCaret());
    this.target.host.addEventListener("click", (event) => {
      const place = this.target.at(event);
      if (place) this.showAlternatives(place.line, this.pieceOf(1, place));
    });
    this.target.host.addEventListener("keydown", (event) => this.moveByKey(event));
    this.target.host.addEventListener("blur", () => { this.place = null; this.light(1, null); });
  }

  // Texts that are translated while they are typed, or a document.
  open(mode) {
    press(this.modes, mode);
    const isDocument = mode === "document";
    this.documents.host.hidden = !isDocument;
    this.find(".aligned").hidden = isDocument;
    if (!isDocument) return this.update();
    this.request.abort();
    this.alternatives.element.hidden = true;
  }

  takeFiles(event, files) {
    if (!files.length) return;
    event.preventDefault();
    this.open("document");
    this.documents.take(files);
  }

  // Of the mode that is open.
  say(text, className = "") {
    const state = this.find(`${this.documents.isOpen ? ".document" : ".aligned"} .state`);
    state.textContent = text;
    state.className = "note state " + className;
  }

  changeLanguage() {
    const { source, target } = this.languages;
    this.input.lang = languageTag(source.value);
    for (const host of [this.target.host, this.documents.result]) host.lang = languageTag(target.value);
    this.terms.offer(target.value || this.choice.name);
    this.changeTerms();
  }

  changeTerms() {
    this.failed.clear();
    this.update();
  }

  edited() {
    this.line = this.source.caret.line;
    this.update();
  }

  // ---- asking ----

  key(text) { return this.prefix + text; }

  // Of every request.
  get fields() {
    return { model: this.choice.name, num_beams: CANDIDATES, ...this.languages.fields, ...this.terms.fields };
  }

  // The candidate that is shown for a piece, or undefined.
  candidate(text) {
    const key = this.key(text);
    return this.known.get(key)?.[this.chosen.get(key) || 0];
  }

  // Shows what is known and asks for the rest, a moment after the last change.
  async update() {
    this.request.abort();
    const { signal } = (this.request = new AbortController());
    if (this.documents.isOpen) return;
    this.prefix = JSON.stringify(this.fields);
    this.pieces = this.source.lines.map(piecesOf);
    this.show();
    const texts = new Set(this.pieces.flat().map(({ text }) => text));
    const missing = [...texts].filter((text) => !this.candidate(text) && !this.failed.has(this.key(text)));
    this.say("");
    if (!texts.size) this.languages.showDetected(null);
    if (!missing.length) return;
    try {
      await pause(DEBOUNCE_SECONDS, signal);
      const begin = performance.now();
      for (let first = 0; first < missing.length; first += PIECES_PER_REQUEST) {
        this.say(missing.length > PIECES_PER_REQUEST ? `Translating… ${first} of ${missing.length}` : "Translating…");
        await this.translate(missing.slice(first, first + PIECES_PER_REQUEST), signal);
        this.show();
      }
      this.say(`${this.choice.name}, ${whole(performance.now() - begin)} ms`);
    } catch (error) {
      this.report(error);
    }
  }

  async translate(texts, signal) {
    const keys = texts.map((text) => this.key(text));
    const { languages, uncalibrated, fields } = this;
    const body = { ...fields, text: texts, n_best: CANDIDATES, alignments: true };
    if (!uncalibrated.has(fields.model)) body.confidence = true;
    // A few words that were changed are in the language of the rest.
    if (languages.detected && texts.join(" ").length < DETECTABLE && this.source.text.length >= DETECTABLE)
      body.source_language = languages.detected;
    if (this.known.size > MAX_KNOWN_PIECES) this.known.clear();
    try {
      const { translations, detected_language: found } = await this.server.json("v1/translate", { body, signal });
      if (found) languages.showDetected(found);
      for (const { index, candidates } of translations) {
        const own = candidates.map(({ text }) => text);
        this.known.set(keys[index], candidates.filter(({ text }, i) => own.indexOf(text) === i));
      }
      this.failures = 0;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (body.confidence && error.message.includes("confidence")) {
        uncalibrated.add(fields.model);
        return this.translate(texts, signal);
      }
      if (texts.length > 1) {
        for (const text of texts) await this.translate([text], signal); // the others may be right
        return;
      }
      this.failed.set(keys[0], sentence(error.message));
      this.failures = (this.failures || 0) + 1;
      if (this.failures >= MAX_FAILURES) throw error;
    }
  }

  // ---- showing ----

  // {text, className, starts} of the translation of a line, with the offset of each piece in it.
  translated(line) {
    const gap = gapOf(this.target.host.lang);
    const before = this.target.lines[line] || "…";
    let text = "";
    const starts = [];
    for (const piece of this.pieces[line]) {
      const shown = this.candidate(piece.text)?.text;
      const problem = this.failed.get(this.key(piece.text));
      if (shown === undefined && problem) return { text: problem, className: "failed", starts };
      if (shown === undefined) return { text: before, className: "pending", starts: [] };
      if (text) text += gap;
      starts.push(text.length);
      text += shown;
    }
    return { text, className: "", starts };
  }

  // A line that is being translated shows what was there before, paler.
  show() {
    const { lines } = this.source;
    const shown = lines.map((_, line) => this.translated(line));
    const isEmpty = lines.every((line) => !line.trim());
    this.starts = shown.map(({ starts }) => starts);
    this.target.show(isEmpty ? [] : shown.map(({ text }) => text), (line) => shown[line].className);
    this.find(".aligned").style.setProperty("--lines", lines.length);
    this.showUnsure();
    this.place = null;
    const words = lines.reduce((sum, line) => sum + wordsIn(line).length, 0);
    this.find(".count").textContent = words ? `${whole(words)} word${words > 1 ? "s" : ""}` : "";
    for (const name of ["clear", "copy"]) this.find(`[name=${name}]`).hidden = isEmpty;
    this.showAlternatives(Math.min(this.line, lines.length - 1));
  }

  // Underlines the words that may be wrong.
  showUnsure() {
    const ranges = this.pieces.flatMap((pieces, line) => pieces.flatMap(({ text }, i) => {
      const begin = this.starts[line][i];
      const shown = begin === undefined ? undefined : this.candidate(text);
      return shown ? unsureIn(shown).map(([from, to]) => this.target.rangeOf(line, begin + from, begin + to)) : [];
    }));
    highlight("unsure", ranges);
    const note = this.find(".unsure");
    note.hidden = !ranges.length;
    note.textContent = `${ranges.length} uncertain word${ranges.length > 1 ? "s" : ""}`;
  }

  showAlternatives(line, piece = this.pieces[line].at(this.pieceAtCaret(line))) {
    this.line = line;
    const count = this.pieces[line].length;
    const where = count > 1 ? "of a sentence" : this.source.lines.length > 1 ? `of line ${line + 1}` : "";
    const key = piece && this.key(piece.text);
    const candidates = this.known.get(key) || [];
    this.alternatives.show(piece, where, candidates, this.chosen.get(key) || 0, this.target.host.lang);
  }

  take(piece, i) {
    this.chosen.set(this.key(piece.text), i);
    this.show();
    this.showAlternatives(this.line, piece);
  }

  // The number of the piece of a line that the caret is in.
  pieceAtCaret(line) {
    const { caret } = this.source;
    const offset = caret.line === line ? caret.offset : 0;
    return Math.max(0, this.pieces[line].findLastIndex(({ begin }) => begin <= offset));
  }

  // ---- alignment ----

  // The first word of each piece of a line, of side 0 (source) or 1 (translation).
  firstWords(side, line) {
    const text = [this.source, this.target][side].lines[line];
    const begins = side ? this.starts[line] : this.pieces[line].map(({ begin }) => begin);
    return begins.map((begin) => wordAt(text, begin));
  }

  // The piece of a word.
  pieceOf(side, { line, word }) {
    return this.pieces[line][this.firstWords(side, line).findLastIndex((first) => first <= word)];
  }

  // Lights up a word of a side, and what it is aligned with; null: nothing. Returns the words of both sides.
  light(side, place) {
    const words = [[], []];
    const piece = place && this.starts[place.line]?.length ? this.pieceOf(side, place) : undefined;
    if (piece) {
      const { line, word } = place;
      const at = this.pieces[line].indexOf(piece);
      const [here, there] = [side, 1 - side].map((one) => this.firstWords(one, line)[at]);
      words[side].push(word);
      for (const pair of this.candidate(piece.text)?.alignment || [])
        if (pair[side] + here === word) words[1 - side].push(pair[1 - side] + there);
    }
    highlight("lit", words.flatMap((own, i) => own.map((word) => [this.source, this.target][i].range(place.line, word))));
    return words;
  }

  followCaret() {
    const { line, offset } = this.source.caret;
    if (!this.pieces[line]) return;
    this.showAlternatives(line);
    this.light(0, this.source.text.trim() ? { line, word: wordAt(this.source.lines[line], offset) } : null);
  }

  moveByKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const places = this.target.lines.flatMap((text, line) => wordsIn(text).map((_, word) => ({ line, word })));
    if (!step || !places.length) return;
    event.preventDefault();
    const at = places.findIndex(({ line, word }) => this.place && line === this.place.line && word === this.place.word);
    const next = at < 0 && step < 0 ? places.length - 1 : at + step; // from nowhere: the first or the last
    this.place = places[Math.min(places.length - 1, Math.max(0, next))];
    const { line, word } = this.place;
    this.showAlternatives(line, this.pieceOf(1, this.place));
    const [sources] = this.light(1, this.place);
    const text = (lines, i) => String(lines.range(line, i) || "");
    this.say(`${text(this.target, word)} ← ${sources.map((one) => text(this.source, one)).join(" ")}`);
  }
}

// [[begin, end], ...] of the words of a candidate that are more likely wrong than right.
function unsureIn({ text, words = [] }) {
  let at = 0;
  return words.flatMap(({ text: word, confidence }) => {
    const begin = text.indexOf(word, at);
    if (begin < 0) return [];
    at = begin + word.length;
    return confidence < UNSURE ? [[begin, at]] : [];
  });
}

// The candidates for a piece, of which one can be taken.
class Alternatives {
  // take(piece, i): candidate i of the piece is wanted.
  constructor(element, take) { Object.assign(this, { element, take }); }

  show(piece, where, candidates, chosen, lang) {
    this.element.hidden = candidates.length < 2;
    this.element.querySelector("h2").textContent = `Alternatives ${where}`;
    this.element.querySelector("ol").replaceChildren(...candidates.map((candidate, i) => {
      const { confidence } = candidate;
      const score = make("span", "note", confidence === undefined ? candidate.score.toFixed(2).replace("-", "−")
        : `${whole(100 * confidence)}%`);
      score.title = confidence === undefined ? "Score: the log-probability divided by the length penalty" : "Confidence";
      const text = make("bdi", "", candidate.text);
      text.lang = lang;
      const button = makeButton("", text, () => {
        this.take(piece, i);
        this.element.querySelectorAll("button")[i].focus();
      });
      button.append(score);
      setPressed(button, i === chosen);
      return make("li", "", button);
    }));
  }
}
