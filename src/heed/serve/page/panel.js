// What the panels of the tabs share.

class Panel {
  // A panel that asks models for `task`; without one it asks none. `chosen` is called with the model.
  constructor(element, server, models, task, chosen) {
    this.element = element;
    this.server = server;
    if (!task) return;
    const report = (error) => this.report(error);
    this.choice = new ModelChoice(models, this.find("[name=model]"), task, chosen, report);
  }

  find(selector) { return this.element.querySelector(selector); }

  // Says how the work stands, and what went wrong.
  say(text, className = "") {
    const state = this.find(".state");
    state.textContent = text;
    state.className = "note state " + className;
  }

  report(error) { if (!aborted(error)) this.say(sentence(error.message), "warning"); }

  // The list of models was read, again.
  refresh() { if (this.choice) this.choice.refresh(); }
  // The tab was opened, or left. On a phone, the keyboard would cover half of it.
  enter() {
    if (this.input && matchMedia("(pointer: fine)").matches) this.input.focus({ preventScroll: true });
  }
  leave() {}
}
