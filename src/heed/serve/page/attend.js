// The attention of a sentence, shown as heed attend shows it.

class AttendPanel {
  constructor(panel, server, models) {
    this.panel = panel;
    this.server = server;
    const find = (selector) => panel.querySelector(selector);
    this.view = find(".view");
    this.state = find(".state");
    this.text = find("[name=text]");
    this.translation = find("[name=translation]");
    this.languages = new LanguageChoice(panel, () => {});
    this.request = new AbortController();
    this.choice = new ModelChoice(models, find("[name=model]"), "attention", (model) => this.offer(model));
    const form = find("form");
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
    const text = this.text.value.trim();
    if (!text) return this.text.focus();
    this.request.abort();
    const { signal } = (this.request = new AbortController());
    const body = { model: this.choice.name, text, format: "viewer", ...this.languages.fields };
    const translation = this.translation.value.trim();
    if (translation && !this.translation.parentElement.hidden) body.target = translation;
    this.say("Computing…");
    try {
      const { model, html } = await this.server.json("v1/attention", { body, signal });
      const parsed = new DOMParser().parseFromString(html, "text/html").querySelector("div.attention");
      this.view.replaceChildren(parsed);
      new AttentionView(parsed);
      this.say(`Attention of ${model}`);
    } catch (error) {
      if (!aborted(error)) this.say(sentence(error.message), "warning");
    }
  }

  say(text, className = "") {
    this.state.textContent = text;
    this.state.className = "note state " + className;
  }

  refresh() { this.choice.refresh(); }
  enter() { this.text.focus({ preventScroll: true }); }
  leave() {}
}
