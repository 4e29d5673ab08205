// The models that the server has, and the choice among those that can do a task.

class Models {
  constructor(server) {
    this.server = server;
    this.list = [];
    this.onChange = () => {}; // the list was read again
  }

  async read() {
    this.list = (await this.server.json("v1/models")).data;
    this.onChange();
  }

  // Loads a model that would be loaded on first use: the smallest request is such a use.
  async use(name) {
    await this.server.json("v1/tokenize", { body: { model: name, text: "" } });
    await this.read();
  }

  that(task) { return this.list.filter((model) => model.tasks && model.tasks.includes(task)); }
}

class ModelChoice {
  // The <select> `element` offers the models that can do `task`. `changed` is called with the chosen one.
  constructor(models, element, task, changed) {
    Object.assign(this, { models, element, task, changed });
    element.addEventListener("change", () => this.choose());
  }

  get model() { return this.models.list.find((model) => model.id === this.element.value); }
  get name() { return this.element.value; }

  // After the list was read. The choice stays if it still can.
  refresh() {
    const names = this.models.that(this.task).map((model) => model.id);
    const before = this.element.value;
    this.element.replaceChildren(...names.map((name) => new Option(name)));
    if (names.includes(before)) this.element.value = before;
    if (names.length) this.choose();
  }

  choose() { this.changed(this.model); }
}
