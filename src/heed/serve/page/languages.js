// Codes of languages as models have them ("en", "en_XX", "eng_Latn", "eng"), and their names.

// A tag as browsers know it ("en", "en-Latn"); empty if there is none.
function languageTag(code) {
  try {
    return Intl.getCanonicalLocales(code.replace(/_XX$/, "").replaceAll("_", "-"))[0];
  } catch {
    return "";
  }
}

const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

// [[code, name]], by name. A name says script and country only if several codes share the language, and the
// code only if they share these, too.
function namedLanguages(codes) {
  const named = codes.map((code) => {
    const tag = languageTag(code);
    const plain = (tag && languageNames.of(tag.split("-")[0])) || code;
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
    const language = languageTag(code).split("-")[0];
    if (code !== except && !languages.has(language)) languages.set(language, code);
  }
  const found = wanted.map((tag) => tag.split("-")[0]).find((language) => languages.has(language));
  return languages.get(found) || codes.find((code) => code !== except) || codes[0];
}

// The <select>s for the languages of a translation. The choice is kept for the next visit.
class LanguageChoice {
  // `changed` is called when other languages are chosen or offered.
  constructor(panel, changed) {
    this.source = panel.querySelector("[name=source]");
    this.target = panel.querySelector("[name=target]");
    this.swapButton = panel.querySelector("[name=swap]");
    this.changed = changed;
    for (const select of [this.source, this.target]) select.addEventListener("change", () => this.keep());
  }

  // Those of a model; none if it has no choice of them.
  offer({ languages = [], source_languages: sources = [] }) {
    const kept = JSON.parse(localStorage.getItem("languages") || "{}");
    const fill = (select, codes, preferred) => {
      const before = [select.value, kept[select.name]].find((code) => codes.includes(code));
      select.replaceChildren(...namedLanguages(codes).map(([code, name]) => new Option(name, code)));
      select.value = before || preferred;
      select.parentElement.hidden = !codes.length;
    };
    fill(this.source, sources, preferredLanguage(sources, ["en"]));
    fill(this.target, languages, preferredLanguage(languages, [...navigator.languages, "de", "fr"], this.source.value));
    if (this.swapButton) this.swapButton.hidden = !sources.length;
    this.changed();
  }

  swap() {
    [this.source.value, this.target.value] = [this.target.value, this.source.value];
    this.keep();
  }

  keep() {
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
