// The models that the server has, and the choice among those that can do a task. A model says what it can do once
// it is loaded; what it said is remembered if it is unloaded again.

const LOADING_SECONDS = 1; // between two questions whether the models are there

// Whether a model can do a task. Vectors for a search come from models that are for vectors alone.
function canDo({ tasks = [] }, task) {
  if (task !== "search") return tasks.includes(task);
  return tasks.includes("embed") && !tasks.some((one) => ["generate", "translate", "classify"].includes(one));
}

class Models {
  constructor(server) {
    this.server = server;
    this.list = [];
    this.known = new Map(); // by name: a model as it was when it was loaded
    this.loading = false; // the server is starting, or loading other models
    this.timer = 0;
    this.onChange = () => {}; // the list was read again
  }

  // Reads the list; again and again while the server loads models.
  async read() {
    clearTimeout(this.timer);
    // In this order: a list from before the server was ready may lack what it has loaded meanwhile.
    const isReady = await this.server.isReady();
    const { data } = await this.server.json("v1/models");
    const ready = isReady || (data.length && data.every((model) => model.loaded));
    this.list = data.map((model) => {
      if (model.tasks) this.known.set(model.id, model);
      return { ...this.known.get(model.id), ...model };
    });
    this.loading = !ready;
    const missing = this.list.filter((model) => !model.loaded).map((model) => model.id).join(", ");
    const models = missing ? `: ${missing}` : "";
    this.server.say(this, this.loading ? `The server is loading its models${models}. This page follows by itself.` : "");
    this.readAt = performance.now();
    this.onChange();
    clearTimeout(this.timer);
    if (this.loading) this.timer = setTimeout(() => this.read(), 1000 * LOADING_SECONDS);
  }

  // Loads a model that would be loaded on first use: the smallest request is such a use.
  async use(name) {
    const id = Symbol(name);
    this.server.say(id, `Loading ${name}. A large model takes a while.`);
    try {
      await this.server.json("v1/tokenize", { body: { model: name, text: "" } });
    } finally {
      this.server.say(id, "");
    }
    await this.read();
  }

  find(name) { return this.list.find((model) => model.id === name); }
  that(task) { return this.list.filter((model) => canDo(model, task)); }
  // Those of which is known only that their first use loads them.
  get unknown() { return this.loading ? [] : this.list.filter((model) => !model.tasks && !model.base); }
}

class ModelChoice {
  // The <select> `element` offers the models that can do `task`, and those that may once they are loaded.
  // `changed` is called with the chosen one, `report` with what is wrong.
  constructor(models, element, task, changed, report) {
    Object.assign(this, { models, element, task, changed, report });
    this.name = ""; // of the chosen model
    element.addEventListener("change", () => this.choose(element.value));
  }

  get model() { return this.models.find(this.name); }

  // After the list was read. The choice stays if it still can.
  refresh() {
    const { element, models } = this;
    const able = models.that(this.task);
    const options = able.map(({ id, loaded }) => new Option(loaded ? id : `${id} (loads when used)`, id));
    const others = make("optgroup", "", ...models.unknown.map(({ id }) => new Option(`${id} – press to load`, id)));
    others.label = "Not loaded yet";
    element.replaceChildren(...options, ...(others.children.length ? [others] : []));
    if (!able.length) return;
    const kept = able.find(({ id }) => id === this.name) || able.find(({ loaded }) => loaded) || able[0];
    this.take(kept.id);
  }

  take(name) {
    this.name = this.element.value = name;
    this.changed(this.model);
  }

  async choose(name) {
    if (this.models.find(name).tasks) return this.take(name);
    this.element.disabled = true;
    try {
      await this.models.use(name);
      const model = this.models.find(name);
      if (canDo(model, this.task)) this.take(name);
      else this.report(new RequestError(`Loaded, but ${name} can only ${model.tasks.join(", ")}`));
    } catch (error) {
      this.report(error);
    }
    this.element.disabled = false;
    this.element.value = this.name;
  }
}
