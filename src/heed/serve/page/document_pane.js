// A document that is translated as a whole: what is marked up in it stays, and the result is a file again.

// Names of /v1/translate, names for people, the ends of files' names.
const DOCUMENT_FORMATS = [
  ["text", "Plain text", ["txt", "text"]],
  ["html", "HTML", ["html", "htm", "xhtml"]],
  ["xml", "XML", ["xml"]],
  ["markdown", "Markdown", ["md", "markdown"]],
  ["srt", "SubRip subtitles", ["srt"]],
  ["vtt", "WebVTT subtitles", ["vtt"]],
  ["po", "gettext (PO)", ["po", "pot"]],
  ["xliff", "XLIFF", ["xlf", "xliff"]],
];

// The format of a file by its name; undefined if the name says nothing.
function formatOfFile(name) {
  const end = name.toLowerCase().match(/\.([^.]+)$/)?.[1];
  return DOCUMENT_FORMATS.find(([, , ends]) => ends.includes(end))?.[0];
}

class DocumentPane {
  // Of the tab `panel`, in whose element `host` is.
  constructor(host, panel) {
    Object.assign(this, { host, panel });
    this.text = this.find("[name=document]");
    this.result = this.find("[name=result]");
    this.format = this.find("[name=format]");
    this.format.replaceChildren(...DOCUMENT_FORMATS.map(([value, name]) => new Option(name, value)));
    this.name = ""; // of the file, if it is one
    this.request = null; // while it is translated
    const input = this.find("[name=file]");
    this.find("[name=open]").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      this.take(input.files);
      input.value = "";
    });
    this.text.addEventListener("input", () => {
      if (!this.text.value) this.name = "";
      this.show("");
    });
    this.find("[name=translate]").addEventListener("click", () => (this.request ? this.request.abort() : this.translate()));
    copyOnClick(this.find("[name=copy]"), () => this.result.value);
    this.find("[name=download]").addEventListener("click", () => saveFile(this.resultName, "text/plain", this.result.value));
    this.show("");
  }

  find(selector) { return this.host.querySelector(selector); }
  get isOpen() { return !this.host.hidden; }

  // A file of the reader's, whose name says its format.
  async take([file]) {
    if (!file) return;
    try {
      const { name, text } = await readTextFile(file);
      this.name = name;
      this.format.value = formatOfFile(name) || "text";
      this.text.value = text;
      this.show("");
      this.panel.say(name);
    } catch (error) {
      this.panel.report(error);
    }
  }

  show(result) {
    this.result.value = result;
    for (const name of ["copy", "download"]) this.find(`[name=${name}]`).hidden = !result;
  }

  async translate() {
    const { panel } = this;
    if (!this.text.value.trim()) return this.text.focus();
    const button = this.find("[name=translate]");
    this.request = new AbortController();
    button.textContent = "Stop";
    this.show("");
    panel.say("Translating…");
    const begin = performance.now();
    try {
      const body = { ...panel.fields, text: [this.text.value], format: this.format.value, document: true };
      const answer = await panel.server.json("v1/translate", { body, signal: this.request.signal });
      if (answer.detected_language) panel.languages.showDetected(answer.detected_language);
      this.target = body.target_language;
      this.show(answer.translations[0].text);
      panel.say(`${panel.choice.name}, ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    } catch (error) {
      panel.say("");
      panel.report(error);
    }
    this.request = null;
    button.textContent = "Translate";
  }

  // "page.html" becomes "page.de.html".
  get resultName() {
    const [, stem, end] = this.name.match(/^(.*?)(\.[^.]+)?$/s);
    const extension = end || "." + DOCUMENT_FORMATS.find(([value]) => value === this.format.value)[2][0];
    return `${stem || "document"}.${this.target || "translated"}${extension}`;
  }
}
