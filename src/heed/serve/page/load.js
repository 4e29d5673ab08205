// What the server is doing, from its metrics, once a second while the tab is open, and what it has done before.

const SPANS = [[120, "2 minutes"], [900, "15 minutes"], [HOUR, "hour"]]; // seconds, and their name;

const bytes = (value) => (value >= 2 ** 30 ? `${(value / 2 ** 30).toFixed(1)} GB` : `${Math.round(value / 2 ** 20)} MB`);
const duration = (seconds) => (seconds < 1 ? `${Math.round(1000 * seconds)} ms` : `${seconds.toFixed(1)} s`);

class LoadPanel extends Panel {
  constructor(element, server, models) {
    super(element, server);
    this.models = models;
    this.history = new History(server);
    this.charts = [
      [new Chart("Tokens per second", rate), ({ tokens }) => tokens],
      [new Chart("Requests at a time", whole), ({ active }) => active],
      [new Chart("Time to first token", duration), ({ first }) => first],
      [new Chart("Errors", whole), ({ errors }) => errors],
      [new Chart("Refused", whole), ({ refused }) => refused],
      [new Chart("Memory", bytes), ({ memory }) => memory || null],
    ];
    this.find(".charts").append(...this.charts.map(([chart]) => chart.element));
    this.span = SPANS[0];
    this.row = segments("", SPANS.map(([seconds, name]) => [seconds, `Last ${name}`]), (seconds) => {
      this.span = SPANS.find(([own]) => own === seconds);
      this.draw();
    });
    this.find(".spans").append(this.row);
    this.cards = new Map(); // by model
    this.before = null; // the Metrics of a second ago
    this.request = null; // an AbortController while the tab is open
    document.addEventListener("visibilitychange", () => this.run());
  }

  refresh() {
    const { list, loading } = this.models;
    const idle = list.every(({ loaded }) => !loaded);
    this.find(".intro").textContent = !idle ? "" : loading ? "The models are being loaded."
      : "No model is loaded yet. Press a button below to load one; its first request would load it, too.";
    this.showCards();
  }

  enter() {
    this.open = true;
    this.run();
  }

  leave() {
    this.open = false;
    this.run();
  }

  // Polls while the tab can be seen.
  async run() {
    if (this.request) this.request.abort();
    this.request = null;
    if (!this.open || document.hidden) return;
    const { signal } = (this.request = new AbortController());
    try {
      await this.history.read(signal);
      this.draw();
      for (;;) {
        this.show(new Metrics(await (await this.server.request("metrics", { signal })).text()));
        await pause(1, signal);
      }
    } catch (error) {
      if (!aborted(error)) this.figures([["Metrics", "–", sentence(error.message)]]);
    }
  }

  show(metrics) {
    if (this.before) this.history.add(this.before, metrics);
    this.before = metrics;
    const sum = (name) => whole(metrics.sum(name));
    const memory = metrics.memory();
    this.figures([
      ["Answering", sum("heed_running_requests"), "answers at this moment"],
      ["Waiting", sum("heed_queued_requests"), `requests with ${sum("heed_queued_tokens")} tokens`],
      ["Answered", whole(metrics.sum("heed_requests_total") - metrics.errors() - metrics.refused()),
        "requests since the start"],
      ["Errors", whole(metrics.errors()), "of the server, since the start"],
      ["Refused", whole(metrics.refused()), "requests with errors of their own"],
      ["Kept for reuse", sum("heed_kv_rows"), "tokens in the KV cache"],
      ...(memory ? [["Memory", bytes(memory), "of this process"]] : []),
    ]);
    this.draw();
    this.showCards();
  }

  figures(figures) {
    this.find(".figures").replaceChildren(...figures.map(([name, value, note]) =>
      make("div", "figure", make("div", "name", name), make("div", "value", value), make("div", "note", note))));
  }

  draw() {
    press(this.row, this.span[0]);
    const { points } = this.history;
    for (const [chart, value] of this.charts) {
      const values = points.map((point) => ({ ...point, value: value(point) }));
      chart.element.hidden = chart.title === "Memory" && !values.some((one) => one.value);
      chart.show(values, ...this.span);
    }
  }

  showCards() {
    const cards = this.models.list.map((model) => {
      if (!this.cards.has(model.id)) this.cards.set(model.id, new ModelCard(model.id, this.models));
      return this.cards.get(model.id);
    });
    cards.forEach((card, i) => card.show(this.models.list[i], this.before));
    const list = this.find(".models");
    const elements = cards.map((card) => card.element);
    if (elements.length !== list.children.length || elements.some((one, i) => one !== list.children[i]))
      list.replaceChildren(...elements);
  }
}

// One model: what it can do, and its load.
class ModelCard {
  constructor(name, models) {
    this.name = name;
    this.use = makeButton("plain", "Load model", () => this.load(models));
    this.tasks = make("p", "note");
    this.problem = make("p", "note warning");
    this.numbers = make("dl", "");
    this.before = null;
    this.speed = 0; // tokens in a second
    const about = make("div", "about", make("h3", "", name), this.tasks, this.problem);
    this.element = make("article", "card", about, this.numbers, this.use);
  }

  // metrics: null before they were read.
  show(model, metrics) {
    const { name, before } = this;
    const context = model.context_length ? `reads up to ${whole(model.context_length)} tokens` : "";
    const state = model.loaded ? "" : "not loaded";
    const about = [state, model.base && `adapter of ${model.base}`, (model.tasks || []).join(", "), context, model.device];
    this.tasks.textContent = about.filter(Boolean).join(" · ");
    this.use.hidden = model.loaded;
    if (!metrics) return;
    if (before && before !== metrics)
      this.speed = Math.max(0, metrics.tokens(name) - before.tokens(name)) / (metrics.time - before.time);
    this.before = metrics;
    const numbers = [
      ["answering", whole(metrics.sum("heed_running_requests", { model: name }))],
      ["tokens/s", rate(this.speed)],
      ["requests", whole(metrics.sum("heed_requests_total", { model: name }))],
      ["tokens", whole(metrics.tokens(name))],
    ];
    this.numbers.replaceChildren(...numbers.map(([label, value]) =>
      make("div", "", make("dt", "", label), make("dd", "", value))));
  }

  async load(models) {
    this.use.disabled = true;
    this.use.textContent = "Loading…";
    this.problem.textContent = "";
    try {
      await models.use(this.name);
    } catch (error) {
      this.problem.textContent = sentence(error.message);
    }
    this.use.disabled = false;
    this.use.textContent = "Load model";
  }
}
