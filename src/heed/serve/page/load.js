// What the server is doing, from its metrics, once a second while the tab is open.

const SAMPLES = 120;

const whole = (value) => Math.round(value).toLocaleString("en");
const rate = (value) => (value >= 100 || value === 0 ? whole(value) : value.toFixed(1));

// A line over the last samples.
class Sparkline {
  constructor(label) {
    this.label = label;
    this.values = [];
    this.element = svg("svg", { viewBox: "0 0 240 48", preserveAspectRatio: "none", role: "img", class: "sparkline" });
  }

  add(value) {
    this.values = [...this.values, value].slice(-SAMPLES);
    const peak = Math.max(...this.values);
    const x = (i) => 240 - (240 * (this.values.length - 1 - i)) / (SAMPLES - 1);
    const y = (value) => 46 - (42 * value) / Math.max(peak, 1);
    const points = this.values.map((value, i) => `${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
    const range = `now ${rate(value)}, at most ${rate(peak)} in the last two minutes`;
    this.element.setAttribute("aria-label", `${this.label}: ${range}`);
    this.element.replaceChildren(svg("path", { class: "area", d: `M${x(0)} 48L${points}L240 48Z` }),
      svg("path", { class: "line", d: `M${points}` }));
  }
}

// A row of named numbers.
class Figures {
  constructor(host) { this.host = host; }

  show(figures) {
    this.host.replaceChildren(...figures.map(([name, value, note]) =>
      make("div", "figure", make("div", "name", name), make("div", "value", value), make("div", "note", note || ""))));
  }
}

class LoadPanel extends Panel {
  constructor(element, server, models) {
    super(element, server);
    this.models = models;
    this.figures = new Figures(this.find(".figures"));
    this.list = this.find(".models");
    this.cards = new Map(); // by model
    this.before = null; // the Metrics of a second ago
    this.request = null; // an AbortController while the tab is open
    document.addEventListener("visibilitychange", () => this.run());
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
      for (;;) {
        this.show(new Metrics(await (await this.server.request("metrics", { signal })).text()));
        await pause(1, signal);
      }
    } catch (error) {
      if (!aborted(error)) this.figures.show([["Metrics", "—", error.message]]);
    }
  }

  show(metrics) {
    const { before } = this;
    this.before = metrics;
    const speed = (model) => (metrics.tokens(model) - before.tokens(model)) / (metrics.time - before.time);
    const speeds = new Map(this.models.list.map(({ id }) => [id, before ? Math.max(0, speed(id)) : 0]));
    this.figures.show([
      ["Running", whole(metrics.sum("heed_running_requests")), "outputs, or waiting"],
      ["Queue", whole(metrics.sum("heed_queued_requests")),
        `requests, ${whole(metrics.sum("heed_queued_tokens"))} tokens`],
      ["KV rows", whole(metrics.sum("heed_kv_rows")), "in use or kept"],
      ["Tokens/s", rate([...speeds.values()].reduce((a, b) => a + b, 0)), "generated"],
    ]);
    for (const model of this.models.list) this.card(model).show(metrics, speeds.get(model.id));
    this.list.replaceChildren(...this.models.list.map((model) => this.card(model).element));
  }

  card(model) {
    if (!this.cards.has(model.id)) this.cards.set(model.id, new ModelCard(model.id, this.models));
    const card = this.cards.get(model.id);
    card.model = model;
    return card;
  }
}

// One model: what it can do, and its load.
class ModelCard {
  constructor(name, models) {
    this.name = name;
    this.use = makeButton("plain", "Load", () => this.load(models));
    this.tasks = make("p", "note");
    this.numbers = make("dl", "");
    this.line = new Sparkline(`Tokens per second of ${name}`);
    this.speed = make("div", "speed");
    const about = make("div", "about", make("h3", "", name), this.tasks, this.use);
    this.element = make("article", "card", about, this.numbers, make("div", "curve", this.speed, this.line.element));
  }

  show(metrics, speed) {
    const { model, name } = this;
    const context = model.context_length ? `context ${whole(model.context_length)}` : "";
    const about = [model.base && `adapter of ${model.base}`, ...(model.tasks || ["loaded on first use"]), context];
    this.use.hidden = model.loaded;
    this.tasks.textContent = about.filter(Boolean).join(" · ");
    const numbers = [
      ["running", whole(metrics.sum("heed_running_requests", { model: name }))],
      ["kv rows", whole(metrics.sum("heed_kv_rows", { model: name }))],
      ["requests", whole(metrics.sum("heed_requests_total", { model: name }))],
      ["tokens", whole(metrics.tokens(name))],
    ];
    this.numbers.replaceChildren(...numbers.map(([label, value]) =>
      make("div", "", make("dt", "", label), make("dd", "", value))));
    this.speed.replaceChildren(make("b", "", rate(speed)), " tokens/s");
    this.line.add(speed);
  }

  async load(models) {
    this.use.disabled = true;
    this.use.textContent = "Loading…";
    try {
      await models.use(this.name);
    } catch (error) {
      this.use.after(make("p", "note warning", sentence(error.message)));
    }
    this.use.disabled = false;
    this.use.textContent = "Load";
  }
}
