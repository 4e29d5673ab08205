// Translation while a text is typed, line by line: what was translated before is not asked for again.

const DEBOUNCE_SECONDS = 0.25;
const CANDIDATES = 4; // the best translation and alternatives, with as many beams
const LINES_PER_REQUEST = 16; // a long text appears bit by bit
const MAX_KNOWN_LINES = 2000;

class TranslatePanel extends Panel {
  constructor(element, server, models) {
    super(element, server, models, "translate", (model) => this.languages.offer(model));
    this.input = this.find("textarea");
    this.output = this.find(".translation");
    this.languages = new LanguageChoice(element, () => this.changeLanguage());
    this.sourceWords = new Words(this.find(".mirror"));
    this.targetWords = new Words(this.output);
    this.alternatives = this.find(".alternatives");
    this.known = new Map(); // candidates by key()
    this.chosen = new Map(); // the number of a candidate, by key(), if it is not the best
    this.shown = []; // the text of each line of the translation
    this.line = 0; // whose alternatives are shown
    this.place = null; // {line, word} of the translation, moved by keys
    this.request = new AbortController();
    this.listen();
  }

  listen() {
    this.input.addEventListener("input", () => {
      this.line = this.caretLines().length - 1;
      this.update();
    });
    this.find("[name=swap]").addEventListener("click", () => {
      this.input.value = this.shown.join("\n");
      this.languages.swap();
    });
    this.find("[name=clear]").addEventListener("click", () => {
      this.input.value = "";
      this.input.focus();
      this.update();
    });
    copyOnClick(this.find("[name=copy]"), () => this.shown.join("\n"));
    const hover = (element, words, side) => {
      element.addEventListener("pointermove", (event) => this.light(side, words.at(event)));
      element.addEventListener("pointerleave", () => this.light(side, null));
    };
    hover(this.input, this.sourceWords, 0);
    hover(this.output, this.targetWords, 1);
    for (const type of ["keyup", "click"]) this.input.addEventListener(type, () => this.followCaret());
    this.output.addEventListener("click", (event) => {
      const place = this.targetWords.at(event);
      if (place) this.showAlternatives(place.line);
    });
    this.output.addEventListener("keydown", (event) => this.moveByKey(event));
    this.output.addEventListener("blur", () => { this.place = null; this.light(1, null); });
  }

  changeLanguage() {
    this.input.lang = languageTag(this.languages.source.value);
    this.output.lang = languageTag(this.languages.target.value);
    this.update();
  }

  // ---- asking ----

  get lines() { return this.input.value.split("\n"); }
  key(line) { return JSON.stringify([this.choice.name, this.languages.fields, line]); }

  // The candidate that is shown for a line, or undefined.
  candidate(line) {
    const key = this.key(line);
    return this.known.has(key) ? this.known.get(key)[this.chosen.get(key) || 0] : undefined;
  }

  // Shows what is known and asks for the rest, a moment after the last change.
  async update() {
    this.request.abort();
    const { signal } = (this.request = new AbortController());
    this.show();
    const lines = [...new Set(this.lines)].filter((line) => line.trim() && !this.candidate(line));
    this.say("");
    if (!lines.length) return;
    try {
      await pause(DEBOUNCE_SECONDS, signal);
      this.say("Translating…");
      const begin = performance.now();
      for (let first = 0; first < lines.length; first += LINES_PER_REQUEST) {
        await this.translate(lines.slice(first, first + LINES_PER_REQUEST), signal);
        this.show();
      }
      this.say(`${this.choice.name}, ${Math.round(performance.now() - begin)} ms`);
    } catch (error) {
      this.report(error);
    }
  }

  async translate(lines, signal) {
    const keys = lines.map((line) => this.key(line));
    const options = { num_beams: CANDIDATES, n_best: CANDIDATES, alignments: true };
    const body = { model: this.choice.name, text: lines, ...options, ...this.languages.fields };
    const { translations } = await this.server.json("v1/translate", { body, signal });
    if (this.known.size > MAX_KNOWN_LINES) this.known.clear();
    for (const { index, candidates } of translations) {
      const texts = candidates.map(({ text }) => text);
      this.known.set(keys[index], candidates.filter(({ text }, i) => texts.indexOf(text) === i));
    }
  }

  // ---- showing ----

  // A line that is being translated shows what was there before, paler.
  show() {
    const { lines } = this;
    const candidates = lines.map((line) => this.candidate(line));
    const before = this.shown;
    this.shown = lines.map((line, i) => (candidates[i] ? candidates[i].text : line.trim() ? before[i] || "…" : ""));
    this.sourceWords.show(lines);
    const empty = this.shown.every((text) => !text);
    this.targetWords.show(empty ? [] : this.shown, (i) => (candidates[i] || !lines[i].trim() ? "" : "pending"));
    this.place = null;
    const words = lines.reduce((sum, line) => sum + (line.match(/\S+/g) || []).length, 0);
    this.find(".count").textContent = words ? `${words} word${words > 1 ? "s" : ""}` : "";
    for (const name of ["clear", "copy"]) this.find(`[name=${name}]`).hidden = !words;
    this.showAlternatives(Math.min(this.line, lines.length - 1));
  }

  showAlternatives(line) {
    this.line = line;
    const text = this.lines[line];
    const candidates = this.known.get(this.key(text)) || [];
    this.alternatives.hidden = candidates.length < 2;
    const which = this.lines.length > 1 ? ` for line ${line + 1}` : "";
    this.alternatives.querySelector("h2").textContent = "Alternatives" + which;
    const chosen = this.chosen.get(this.key(text)) || 0;
    this.alternatives.querySelector("ol").replaceChildren(...candidates.map((candidate, i) => {
      const score = make("span", "note", candidate.score.toFixed(2).replace("-", "−"));
      score.title = "Score: the log-probability divided by the length penalty";
      const button = makeButton("", make("bdi", "", candidate.text), () => {
        this.chosen.set(this.key(text), i);
        this.show();
        this.alternatives.querySelectorAll("button")[i].focus();
      });
      button.lang = this.output.lang;
      button.append(score);
      setPressed(button, i === chosen);
      return make("li", "", button);
    }));
  }

  // ---- alignment ----

  // Lights up a word of side 0 (source) or 1 (translation), and what it is aligned with; null: nothing.
  light(side, place) {
    const words = [[], []];
    const line = place ? place.line : 0;
    const candidate = place && this.candidate(this.lines[line]);
    if (candidate && candidate.alignment) {
      words[side].push(place.word);
      for (const pair of candidate.alignment) if (pair[side] === place.word) words[1 - side].push(pair[1 - side]);
    }
    this.sourceWords.light(line, words[0]);
    this.targetWords.light(line, words[1]);
    return words;
  }

  // The lines up to the caret.
  caretLines() { return this.input.value.slice(0, this.input.selectionStart).split("\n"); }

  followCaret() {
    const before = this.caretLines();
    const line = before.length - 1;
    if (line !== this.line) this.showAlternatives(line);
    const word = (before[line] + "x").match(/\S+/g).length - 1;
    this.light(0, this.input.value.trim() ? { line, word } : null);
  }

  moveByKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const places = this.targetWords.lines.flatMap((words, line) => words.map((_, word) => ({ line, word })));
    if (!step || !places.length) return;
    event.preventDefault();
    const at = places.findIndex(({ line, word }) => this.place && line === this.place.line && word === this.place.word);
    const next = at < 0 && step < 0 ? places.length - 1 : at + step; // from nowhere: the first or the last
    this.place = places[Math.min(places.length - 1, Math.max(0, next))];
    if (this.place.line !== this.line) this.showAlternatives(this.place.line);
    const [sources] = this.light(1, this.place);
    const text = (words, i) => words.lines[this.place.line][i]?.textContent || "";
    const source = sources.map((word) => text(this.sourceWords, word)).join(" ");
    this.say(`${text(this.targetWords, this.place.word)} ← ${source}`);
  }
}
