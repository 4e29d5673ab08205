// Codes of languages as models have them ("en", "en_XX", "eng_Latn", "eng"), and their names.

// A tag as browsers know it ("en", "en-Latn"); empty if there is none.
function languageTag(code) {
  try {
    return Intl.getCanonicalLocales(code.replace(/_XX$/, "").replaceAll("_", "-"))[0];
  } catch {
    return "";
  }
}

// Its language alone ("en").
const languageOf = (code) => languageTag(code).split("-")[0];

const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

// [[code, name]], by name. A name says script and country only if several codes share the language, and the
// code only if they share these, too.
function namedLanguages(codes) {
  const named = codes.map((code) => {
    const tag = languageTag(code);
    const plain = (tag && languageNames.of(languageOf(code))) || code;
    return { code, plain, whole: (tag && languageNames.of(tag)) || code };
  });
  const unique = (key) => {
    const counts = Map.groupBy(named, (one) => one[key]);
    return (one) => counts.get(one[key]).length === 1;
  };
  const [byPlain, byWhole] = [unique("plain"), unique("whole")];
  const nameOf = (one) => (byPlain(one) ? one.plain : byWhole(one) ? one.whole : `${one.whole} (${one.code})`);
  return named.map((one) => [one.code, nameOf(one)])
    .sort((a, b) => a[1].localeCompare(b[1], "en"));
}

// The first code whose language is the first of `wanted` (tags) that any code has; not `except`.
function preferredLanguage(codes, wanted, except) {
  const languages = new Map();
  for (const code of codes) {
    const language = languageOf(code);
    if (code !== except && !languages.has(language)) languages.set(language, code);
  }
  const found = wanted.map((tag) => tag.split("-")[0]).find((language) => languages.has(language));
  return languages.get(found) || codes.find((code) => code !== except) || codes[0];
}

// [source, target] in the name of a model, as in "opus-mt-en-de"; none if they are no languages.
function languagesInName(name) {
  const [, ...codes] = name.match(/(?:^|[-_/])([a-z]{2,3})-([a-z]{2,3})$/) || [];
  return codes.every((code) => languageTag(code) && languageNames.of(code)) ? codes : [];
}

const AUTO = "auto"; // as a source: the server detects it
const DETECT = "Detect language";

// The choice of the languages of a translation, which is kept for the next visit.
class LanguageChoice {
  // `changed` is called when other languages are chosen or offered. `detects`: the source may be detected.
  constructor(panel, changed, { detects = false } = {}) {
    this.source = panel.querySelector("[name=source]");
    this.target = panel.querySelector("[name=target]");
    this.swapButton = panel.querySelector("[name=swap]");
    this.fixed = panel.querySelector(".fixed");
    this.changed = changed;
    this.detects = detects;
    this.detected = ""; // the code of the language that was detected last, if it is chosen and one code alone has it
    for (const select of [this.source, this.target]) select.addEventListener("change", () => this.keep());
  }

  // Those of a model. Where there is nothing to choose, they are only named.
  offer({ id, tasks, languages = [], source_languages: sources = [] }) {
    const kept = JSON.parse(localStorage.getItem("languages") || "{}");
    const fill = (select, codes, preferred) => {
      const detects = this.detects && select === this.source && codes.length > 1;
      const same = (code) => (detects && code === AUTO ? code : codes.find((one) => one === code)
        || codes.find((one) => languageOf(one) && languageOf(one) === languageOf(code || "")));
      const before = same(select.value) || same(kept[select.name]);
      const options = namedLanguages(codes).map(([code, name]) => new Option(name, code));
      select.replaceChildren(...(detects ? [new Option(DETECT, AUTO)] : []), ...options);
      select.value = before || preferred;
      select.parentElement.hidden = codes.length < 2;
    };
    fill(this.source, sources, preferredLanguage(sources, ["en"]));
    fill(this.target, languages, preferredLanguage(languages, [...navigator.languages, "de", "fr"], this.source.value));
    if (this.swapButton) this.swapButton.hidden = sources.length < 2;
    this.name(tasks.includes("translate") ? this.namesFor(id, sources, languages) : ["", ""]);
    this.showDetected(null);
    this.changed();
  }

  get isDetected() { return this.source.value === AUTO; }

  // Names what the server has detected: {language}; null: nothing yet.
  showDetected(found) {
    const option = [...this.source.options].find(({ value }) => value === AUTO);
    const codes = [...this.source.options].map(({ value }) => value)
      .filter((code) => found && code !== AUTO && languageOf(code) === languageOf(found.language));
    this.detected = this.isDetected && codes.length === 1 ? codes[0] : "";
    if (option) option.text = this.isDetected && found ? `${languageNames.of(found.language)} (detected)` : DETECT;
    if (this.swapButton) this.swapButton.disabled = this.isDetected && !this.detected;
  }

  // What cannot be chosen: [source, target, why] in words; empty where it can.
  namesFor(id, sources, targets) {
    const [source, target] = languagesInName(id);
    const nameOf = ([code], count) => (count > 1 || !code ? "" : namedLanguages([code])[0][1]);
    if (sources.length || targets.length)
      return [nameOf(sources, sources.length) || (sources.length ? "" : "Any language"), nameOf(targets, targets.length)];
    if (source) return [nameOf([source], 1), nameOf([target], 1), "As the name of the model says; its files do not"];
    return ["", "", "", "The files of this model do not say which languages it translates"];
  }

  name([source, target, title = "", instead = ""]) {
    const parts = [source && `From ${source}`, target && `to ${target}`].filter(Boolean).join(" ");
    this.fixed.textContent = instead || parts.replace(/^to/, "To");
    this.fixed.title = title;
    this.fixed.hidden = !this.fixed.textContent;
  }

  swap() {
    const source = this.isDetected ? this.detected : this.source.value;
    [this.source.value, this.target.value] = [this.target.value, source];
    this.keep();
  }

  keep() {
    this.showDetected(null);
    localStorage.setItem("languages", JSON.stringify({ source: this.source.value, target: this.target.value }));
    this.changed();
  }

  // For a request.
  get fields() {
    const fields = {};
    if (this.source.value) fields.source_language = this.source.value;
    if (this.target.value) fields.target_language = this.target.value;
    return fields;
  }
}
