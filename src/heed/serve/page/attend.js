// The attention of a sentence, shown as heed attend shows it.

class AttendPanel extends Panel {
  constructor(element, server, models) {
    super(element, server, models, "attention", (model) => this.offer(model));
    this.input = this.find("[name=text]");
    this.translation = this.find("[name=translation]");
    this.languages = new LanguageChoice(element, () => {});
    this.request = new AbortController();
    const form = this.find("form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target.tagName !== "TEXTAREA") return;
      event.preventDefault();
      form.requestSubmit();
    });
  }

  // A translation has its own text.
  offer(model) {
    this.translation.parentElement.hidden = !model.tasks.includes("translate");
    this.languages.offer(model);
  }

  async ask() {
    const text = this.input.value.trim();
    if (!text) return this.input.focus();
    this.request.abort();
    const { signal } = (this.request = new AbortController());
    const body = { model: this.choice.name, text, format: "viewer", ...this.languages.fields };
    const translation = this.translation.value.trim();
    if (translation && !this.translation.parentElement.hidden) body.target = translation;
    this.say("Computing…");
    try {
      const { model, html } = await this.server.json("v1/attention", { body, signal });
      const parsed = new DOMParser().parseFromString(html, "text/html").querySelector("div.attention");
      this.find(".view").replaceChildren(parsed);
      new AttentionView(parsed);
      this.say(`Attention of ${model}`);
    } catch (error) {
      this.report(error);
    }
  }
}
