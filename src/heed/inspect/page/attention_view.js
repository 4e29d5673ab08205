// One capture on the page: its controls, its state, and the panel of numbers.

const ALL_KEYS = "← → head, ↑ ↓ layer, k kind, v view, m mean, r contrast, Esc all heads";

function make(tag, className, ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

// A row of buttons of which one is pressed. options: [[value, label], ...]
function segments(className, options, choose) {
  const row = make("div", "segments " + className);
  for (const [value, label] of options) {
    const button = make("button", "", label);
    button.type = "button";
    button.value = value;
    button.addEventListener("click", () => choose(value));
    row.append(button);
  }
  return row;
}

function press(row, value) {
  for (const button of row.children) button.setAttribute("aria-pressed", String(button.value === String(value)));
}

class AttentionView {
  constructor(element) {
    this.element = element;
    this.capture = new AttentionCapture(element);
    this.whole = document.body.hasAttribute("data-whole-page");
    this.view = "lines";
    this.enlarged = null; // null: all heads; "mean" or the number of a head
    this.mean = false;
    this.relative = false;
    this.fitted = false;
    this.pinned = null;
    this.hovered = null;
    this.kind = this.capture.kinds.find((kind) => kind.name === "cross") || this.capture.kinds[0];
    const layers = this.capture.layers(this.kind);
    this.layer = layers[layers.length - 1];
    this.on = null; // the heads that are switched on; null: all
    this.build();
    this.readAddress();
    this.listen();
    this.refreshTheme();
    this.refresh();
    this.reveal();
  }

  // ---- what the stages ask for ----

  get focus() { return this.hovered || this.pinned; }
  get heads() { return [...Array(this.map.heads).keys()].filter((head) => !this.on || this.on.has(head)); }
  font(size, weight = 400) { return `${weight} ${size}px ${this.family}`; }
  ink(name) { return this.inks[name]; }

  colour(head) {
    const colour = this.capture.colours[head % this.capture.colours.length];
    if (!this.dark) return colour;
    const lighter = [1, 3, 5].map((at) => Math.round(parseInt(colour.slice(at, at + 2), 16) * 0.72 + 255 * 0.28));
    return `rgb(${lighter.join()})`;
  }

  // The heads that the numbers are about.
  get countedHeads() { return typeof this.enlarged === "number" && this.view === "heatmap" ? [this.enlarged] : this.heads; }
  shownCodes() { return this.map.meanCodes(this.countedHeads); }

  // The mean weights of a focused row or column.
  shares(focus) {
    const { queries, keys } = this.map;
    const codes = this.shownCodes();
    return focus.query !== undefined
      ? keys.map((_, k) => WEIGHTS[codes[focus.query * keys.length + k]])
      : queries.map((_, q) => WEIGHTS[codes[q * keys.length + focus.key]]);
  }

  // The strongest weight of each row among the heads that are drawn.
  rowMaxima() {
    const { queries, keys } = this.map;
    const all = this.mean ? [this.map.meanCodes(this.heads)] : this.heads.map((head) => this.map.codes(head));
    return queries.map((_, q) => {
      let most = 1;
      for (const codes of all)
        for (let k = 0; k < keys.length; ++k) most = Math.max(most, codes[q * keys.length + k]);
      return WEIGHTS[most];
    });
  }

  // (row, code) => the code to colour it by: its own, or relative to the strongest of its row.
  shade(codes) {
    if (!this.relative) return (q, code) => code;
    const { queries, keys } = this.map;
    const scale = queries.map((_, q) => {
      let most = 1;
      for (let k = 0; k < keys.length; ++k) most = Math.max(most, codes[q * keys.length + k]);
      return 255 / most;
    });
    return (q, code) => Math.round(code * scale[q]);
  }

  // Draws a piece cut to `room`, the mark of a space in a paler ink.
  drawPiece(context, piece, x, y, room, colour) {
    let text = piece;
    if (context.measureText(text).width > room) {
      const points = [...text];
      while (points.length > 1 && context.measureText(points.join("") + "…").width > room) points.pop();
      text = points.join("") + "…";
    }
    const right = context.textAlign === "right";
    const space = text.startsWith("▁") ? "▁" : "";
    const rest = text.slice(space.length);
    context.fillStyle = this.ink("--faint");
    if (space) context.fillText(space, right ? x - context.measureText(rest).width : x, y);
    context.fillStyle = colour;
    context.fillText(rest, right ? x : x + (space ? context.measureText(space).width : 0), y);
  }

  drawnAbove(weight) {
    if (this.drawn) this.drawn.textContent = `A line is as opaque as its weight; weights below ${percent(weight)} have no line.`;
  }

  // ---- controls ----

  build() {
    const bar = make("div", "bar");
    this.kindRow = segments("", this.capture.kinds.map((kind) => [kind.name, kind.label]), (name) => this.chooseKind(name));
    this.layerBox = make("div", "choice");
    this.viewRow = segments("", [["lines", "Lines"], ["heatmap", "Heatmaps"]], (view) => this.set({ view, enlarged: null }));
    this.headBox = make("div", "choice");
    this.toggles = make("div", "choice");
    this.meanButton = this.toggle("Mean of heads", "mean", "Draw the mean of the heads that are switched on");
    this.relativeButton = this.toggle("Row contrast", "relative", "Shade each row relative to its strongest weight");
    this.fittedButton = this.toggle("Fit", "fitted", "Show the whole heatmap at once");
    this.backButton = make("button", "plain", "← All heads");
    this.backButton.addEventListener("click", () => this.set({ enlarged: null }));
    this.toggles.append(this.backButton, this.meanButton, this.relativeButton, this.fittedButton);
    bar.append(this.kindRow, this.layerBox, this.viewRow, this.headBox, this.toggles);
    this.explanation = make("div", "explanation");
    this.stageBox = make("div", "");
    this.panel = make("div", "panel");
    this.panel.setAttribute("aria-live", "polite");
    this.legend = make("div", "legend");
    this.element.append(bar, this.explanation, make("div", "body", this.stageBox, this.panel), this.legend);
  }

  toggle(label, property, title) {
    const button = make("button", "plain", label);
    button.type = "button";
    button.title = title;
    button.addEventListener("click", () => this.set({ [property]: !this[property] }));
    return button;
  }

  chooseKind(name) {
    this.kind = this.capture.kinds.find((kind) => kind.name === name);
    const layers = this.capture.layers(this.kind);
    this.set({ layer: layers.includes(this.layer) ? this.layer : layers[layers.length - 1], pinned: null });
  }

  set(changes) {
    Object.assign(this, changes);
    this.hovered = null;
    this.refresh();
    this.writeAddress();
  }

  switchHead(head, alone) {
    const heads = new Set(this.heads);
    if (alone) heads.clear();
    if (!heads.delete(head)) heads.add(head);
    this.set({ on: heads.size === 0 || heads.size === this.map.heads ? null : heads });
  }

  enlarge(head) { this.set({ enlarged: head }); }

  // ---- drawing ----

  refreshTheme() {
    this.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const style = getComputedStyle(this.element);
    this.family = style.fontFamily;
    this.inks = {};
    for (const name of ["--ink", "--soft", "--faint", "--rule", "--wash", "--accent", "--raised", "--head-focus"])
      this.inks[name] = style.getPropertyValue(name).trim();
    this.table = colourTable(this.dark);
  }

  refresh() {
    this.map = this.capture.map(this.kind, this.layer);
    if (this.on) this.on = new Set([...this.on].filter((head) => head < this.map.heads));
    if (this.on && this.on.size === 0) this.on = null;
    if (typeof this.enlarged === "number" && this.enlarged >= this.map.heads) this.enlarged = null;
    this.refreshControls();
    this.refreshStage();
    this.refreshLegend();
    this.refreshPanel();
  }

  refreshControls() {
    const layers = this.capture.layers(this.kind);
    if (this.layerBox.dataset.layers !== layers.join()) {
      this.layerBox.dataset.layers = layers.join();
      this.layerRow = segments("numbers", layers.map((layer) => [layer, layer + 1]), (layer) => this.set({ layer }));
      this.layerBox.replaceChildren(make("span", "", "Layer"), this.layerRow);
    }
    press(this.kindRow, this.kind.name);
    press(this.layerRow, this.layer);
    press(this.viewRow, this.view);
    this.refreshHeads();
    const large = this.view === "heatmap" && this.enlarged !== null;
    this.backButton.hidden = !large;
    this.meanButton.hidden = this.view !== "lines";
    this.fittedButton.hidden = !large;
    for (const [button, pressed] of [[this.meanButton, this.mean], [this.relativeButton, this.relative], [this.fittedButton, this.fitted]])
      button.setAttribute("aria-pressed", String(pressed));
    const name = large ? (this.enlarged === "mean" ? `mean of ${this.heads.length} heads` : `head ${this.enlarged + 1} of ${this.map.heads}`) : "";
    this.explanation.replaceChildren(make("b", "", `${this.kind.label}, layer ${this.layer + 1}${name ? ", " + name : ""}. `),
      `${this.kind.sentence} ${this.view === "lines" ? "Its lines lead from the left to what it looks at on the right." : "Each row of a heatmap is one of them, each column something it looks at."}`);
  }

  refreshHeads() {
    const key = `${this.map.heads} ${this.dark}`;
    if (this.headBox.dataset.key !== key) {
      this.headBox.dataset.key = key;
      const heads = make("div", "heads");
      for (let head = 0; head < this.map.heads; ++head) {
        const button = make("button", "", String(head + 1));
        button.type = "button";
        button.title = `Head ${head + 1}: click to switch, double click for this head alone`;
        button.style.setProperty("--head", this.colour(head));
        button.addEventListener("click", () => this.switchHead(head, false));
        button.addEventListener("dblclick", () => this.set({ on: new Set([head]) }));
        heads.append(button);
      }
      const all = make("button", "plain", "All");
      all.type = "button";
      all.title = "Switch all heads on";
      all.addEventListener("click", () => this.set({ on: null }));
      this.headBox.replaceChildren(make("span", "", "Heads"), heads, all);
    }
    const shown = new Set(this.countedHeads);
    [...this.headBox.querySelectorAll(".heads button")].forEach((button, head) => button.setAttribute("aria-pressed", String(shown.has(head))));
  }

  refreshStage() {
    const tiles = this.view === "heatmap" && this.enlarged === null;
    this.stageBox.parentElement.classList.toggle("wide", tiles);
    this.width = this.stageBox.clientWidth;
    const scroll = this.stage && this.stage.sheet ? [this.stageBox.scrollLeft, this.stageBox.scrollTop] : [0, 0];
    this.stageBox.replaceChildren();
    this.stageBox.className = "stage";
    this.stageBox.style.height = "";
    this.drawn = null;
    if (this.map.queries.length === 0 || this.map.keys.length === 0) {
      this.stage = null;
      this.stageBox.append(make("div", "empty", "There are no tokens to show."));
      return;
    }
    const Stage = this.view === "lines" ? LinesStage : this.enlarged === null ? TilesStage : HeatmapStage;
    this.stage = new Stage(this, this.stageBox);
    if (!this.stage.sheet) return;
    [this.stageBox.scrollLeft, this.stageBox.scrollTop] = scroll;
    this.stage.sheet.canvas.setAttribute("role", "img");
    this.stage.sheet.canvas.setAttribute("aria-label", this.explanation.textContent);
  }

  refreshLegend() {
    const notes = [];
    if (this.view === "lines") notes.push((this.drawn = make("span", "")));
    else notes.push(this.scale());
    if (this.stage instanceof TilesStage) notes.push(make("span", "", `Rows: ${this.kind.query} tokens from top to bottom; columns: ${this.kind.key} tokens from left to right. Click a heatmap to enlarge it.`));
    if (this.relative) notes.push(make("span", "", "Row contrast: the strongest weight of each row counts as 100 %."));
    if (this.capture.dropped) notes.push(make("span", "", `To keep this page small, weights below ${percent(this.capture.floor)} are not stored.`));
    if (this.capture.missing) notes.push(make("span", "warning", `${this.capture.missing} weights of this capture are not numbers; they are shown as empty.`));
    this.legend.replaceChildren(...notes, make("span", "", `Layers, heads and tokens are counted from 1. Keys: ${ALL_KEYS}.`));
  }

  // The colours of a heatmap, from 0 to 100 % along the square root of the weight.
  scale() {
    const canvas = make("canvas", "");
    canvas.width = 256;
    canvas.height = 1;
    canvas.style.cssText = "width:180px;height:11px";
    const context = canvas.getContext("2d");
    const image = context.createImageData(256, 1);
    for (let c = 0; c < 256; ++c) image.data.set([this.table[3 * c], this.table[3 * c + 1], this.table[3 * c + 2], 255], 4 * c);
    context.putImageData(image, 0, 0);
    return make("span", "scale", "0", canvas, "100 % (middle: 25 %)");
  }

  // ---- the panel ----

  refreshPanel() {
    const focus = this.focus;
    if (!focus) {
      this.panel.replaceChildren(make("p", "note", "Point at a token to see only its weights, in numbers; click to hold it."));
      return;
    }
    const looking = focus.query !== undefined;
    const { queries, keys, kind } = this.map;
    const index = looking ? focus.query : focus.key;
    const shares = this.shares(looking ? { query: index } : { key: index });
    const title = looking ? queries[index] : keys[index];
    const others = looking ? keys : queries;
    const step = looking ? this.capture.step(kind, index) : null;
    const heads = this.countedHeads;
    const of = heads.length === 1 ? `head ${heads[0] + 1}` : `mean of ${heads.length} heads`;
    const side = `${looking ? kind.query : kind.key} token ${index + 1} ${looking ? "looks at" : "is looked at by"} (${of})`;
    const content = [make("h3", "", title), make("div", "where", side)];
    if (step) content.push(make("div", "where", step.predicts === null ? `The decoder reads ${step.reads} here.` : `The decoder reads ${step.reads} here; the next token is ${step.predicts}.`));
    if (looking && focus.key !== undefined) content.push(make("p", "", `→ ${keys[focus.key]}: `, make("b", "", percent(shares[focus.key]))));
    content.push(this.panelTable(shares, others, looking, index));
    if (!looking) content.push(make("p", "note", "A column need not sum to 1."));
    this.panel.replaceChildren(...content);
  }

  panelTable(shares, others, looking, index) {
    const order = [...shares.keys()].filter((i) => shares[i] > 0).sort((a, b) => shares[b] - shares[a]).slice(0, 12);
    const table = make("table", "");
    const most = order.length ? shares[order[0]] : 1;
    for (const other of order) {
      const track = make("div", "track");
      const cell = looking ? index * this.map.keys.length + other : other * this.map.keys.length + index;
      const heads = this.mean || this.enlarged === "mean" ? [] : this.countedHeads;
      for (const head of heads) this.part(track, WEIGHTS[this.map.codes(head)[cell]] / heads.length / most, this.colour(head));
      if (!heads.length) this.part(track, shares[other] / most, this.ink("--accent"));
      const token = make("td", "token", make("bdi", "", others[other]), make("small", "", String(other + 1)));
      token.title = others[other];
      table.append(make("tr", "", token, make("td", "", track), make("td", "number", percent(shares[other]))));
    }
    const seen = looking && this.kind.name === "decoder_self" ? index + 1 : others.length; // the mask hides the rest
    const left = seen - order.length;
    const rest = 1 - order.reduce((sum, i) => sum + shares[i], 0);
    if (!order.length) table.append(make("tr", "rest", make("td", "", "no weights")));
    else if (looking && left > 0 && rest > 0.002)
      table.append(make("tr", "rest", make("td", "", `${left} other${left > 1 ? "s" : ""}`), make("td", ""), make("td", "number", percent(rest))));
    return table;
  }

  part(track, share, colour) {
    const part = make("i", "");
    part.style.cssText = `width:${(100 * share).toFixed(2)}%;background:${colour}`;
    track.append(part);
  }

  // ---- events ----

  listen() {
    const point = (event) => this.stage && this.stage.sheet ? this.stage.sheet.under(event) : null;
    const show = (focus) => {
      if (JSON.stringify(focus) === JSON.stringify(this.hovered)) return;
      this.hovered = focus;
      this.stage.sheet.redraw();
      this.refreshPanel();
    };
    this.stageBox.addEventListener("pointermove", (event) => { if (this.stage && this.stage.sheet) show(point(event)); });
    this.stageBox.addEventListener("pointerleave", () => { if (this.stage && this.stage.sheet) show(null); });
    this.stageBox.addEventListener("click", (event) => {
      if (!this.stage || !this.stage.sheet) return;
      const focus = point(event);
      this.pinned = JSON.stringify(focus) === JSON.stringify(this.pinned) ? null : focus;
      this.stage.sheet.redraw();
      this.refreshPanel();
      this.writeAddress();
    });
    (this.whole ? document : this.element).addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.key(event.key)) event.preventDefault();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.refreshTheme(); this.refresh(); });
    new ResizeObserver(() => { if (this.stageBox.clientWidth !== this.width) this.refresh(); }).observe(this.element);
    if (this.whole) addEventListener("hashchange", () => { this.readAddress(); this.refresh(); this.reveal(); });
  }

  key(key) {
    const layers = this.capture.layers(this.kind);
    const step = (list, value, by) => list[Math.min(list.length - 1, Math.max(0, list.indexOf(value) + by))];
    switch (key) {
      case "ArrowUp": this.set({ layer: step(layers, this.layer, -1) }); return true;
      case "ArrowDown": this.set({ layer: step(layers, this.layer, 1) }); return true;
      case "ArrowLeft": this.stepHead(-1); return true;
      case "ArrowRight": this.stepHead(1); return true;
      case "k": {
        const kinds = this.capture.kinds;
        this.chooseKind(kinds[(kinds.indexOf(this.kind) + 1) % kinds.length].name);
        return true;
      }
      case "v": this.set({ view: this.view === "lines" ? "heatmap" : "lines", enlarged: null }); return true;
      case "m": this.view === "lines" ? this.set({ mean: !this.mean }) : this.enlarge("mean"); return true;
      case "r": this.set({ relative: !this.relative }); return true;
      case "Escape": this.set({ enlarged: null, on: this.enlarged === null ? null : this.on, pinned: null }); return true;
    }
    return false;
  }

  // To the next head: alone among the lines, enlarged among the heatmaps.
  stepHead(by) {
    const count = this.map.heads;
    const next = (current) => (current === null ? (by > 0 ? 0 : count - 1) : (current + by + count) % count);
    if (this.view === "heatmap") this.enlarge(next(typeof this.enlarged === "number" ? this.enlarged : null));
    else this.set({ on: new Set([next(this.on && this.on.size === 1 ? [...this.on][0] : null)]) });
  }

  // ---- the address ----

  writeAddress() {
    if (!this.whole) return;
    const parts = { kind: this.kind.name, layer: this.layer + 1, view: this.view };
    if (this.view === "heatmap" && this.enlarged !== null) parts.head = this.enlarged === "mean" ? "mean" : this.enlarged + 1;
    if (this.view === "lines" && this.mean) parts.head = "mean";
    else if (this.view === "lines" && this.on) parts.head = [...this.on].map((head) => head + 1).join();
    for (const side of ["query", "key"])
      if (this.pinned && this.pinned[side] !== undefined) parts[side] = this.pinned[side] + 1;
    if (this.relative) parts.contrast = "row";
    if (this.fitted) parts.fit = "all";
    history.replaceState(null, "", "#" + new URLSearchParams(parts));
  }

  // Scrolls to the token that the address holds.
  reveal() {
    if (!this.pinned || !this.stage || !this.stage.sheet) return;
    const row = this.pinned.query !== undefined ? this.pinned.query : this.stage instanceof LinesStage ? this.pinned.key : 0;
    this.stage.reveal(row);
  }

  readAddress() {
    if (!this.whole) return;
    const parts = new URLSearchParams(location.hash.slice(1));
    const kind = this.capture.kinds.find((candidate) => candidate.name === parts.get("kind"));
    if (kind) this.kind = kind;
    const layers = this.capture.layers(this.kind);
    this.layer = layers.includes(parts.get("layer") - 1) ? parts.get("layer") - 1 : layers.includes(this.layer) ? this.layer : layers[layers.length - 1];
    this.view = parts.get("view") === "heatmap" ? "heatmap" : "lines";
    this.mean = this.view === "lines" && parts.get("head") === "mean";
    const heads = (parts.get("head") || "").split(",").map((head) => head - 1).filter((head) => Number.isInteger(head) && head >= 0);
    this.on = this.view === "lines" && heads.length ? new Set(heads) : null;
    this.enlarged = this.view !== "heatmap" ? null : parts.get("head") === "mean" ? "mean" : heads.length ? heads[0] : null;
    const pinned = {};
    for (const side of ["query", "key"]) {
      const index = parts.get(side) - 1;
      const tokens = side === "query" ? this.kind.query : this.kind.key;
      if (Number.isInteger(index) && index >= 0 && index < this.capture.tokens[tokens].length) pinned[side] = index;
    }
    this.pinned = Object.keys(pinned).length ? pinned : null;
    this.relative = parts.get("contrast") === "row";
    this.fitted = parts.get("fit") === "all";
  }
}
