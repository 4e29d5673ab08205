// The interactive view of one capture: its state, the drawing, the events and the page address.

const KEY_HELP = "← → head, ↑ ↓ layer, k kind, v view, m mean, s sink, r row contrast, Esc all heads";
// Where there is no keyboard, nobody wants to hear of its keys.
const HAS_KEYBOARD = matchMedia("(hover: hover) and (pointer: fine)").matches;

// The number that a part of an address holds; null if it holds none.
const numberIn = (text) => (/^[0-9]+$/.test(text) ? Number(text) : null);

const sameFocus = (a, b) => JSON.stringify(a) === JSON.stringify(b);

class AttentionView {
  constructor(element) {
    this.element = element;
    this.capture = new AttentionCapture(element);
    this.isWholePage = document.body.hasAttribute("data-whole-page");
    this.mode = "lines"; // or "heatmap"
    this.enlarged = null; // in a heatmap: "mean" or a head; null: all heads as tiles
    this.visible = null; // a Set of heads; null: all
    this.mean = true; // draw lines for the mean of the visible heads
    this.sinkHidden = true; // leave out what heads look at when they look for nothing
    this.relative = true; // shade relative to the largest weight of each row
    this.fitted = false; // fit the enlarged heatmap into the window
    this.pinned = null; // the focus {query, key} set by a click
    this.hovered = null; // the focus under the pointer
    this.kind = this.capture.kinds.find((kind) => kind.name === "cross") || this.capture.kinds[0];
    this.layer = this.capture.bestLayer(this.kind);
    this.build();
    this.readAddress();
    this.listen();
    this.refreshTheme();
    this.refresh();
    this.reveal();
  }

  build() {
    this.controls = new AttentionControls(this);
    this.panel = new AttentionPanel(this);
    this.stageBox = make("div", "");
    this.stageBox.tabIndex = 0;  // it scrolls
    this.legend = make("div", "legend");
    this.element.append(this.controls.bar, this.controls.explanation,
      make("div", "body", this.stageBox, this.panel.element), this.legend);
  }

  // ---- state ----

  get focus() { return this.hovered || this.pinned; }

  // The visible heads.
  get heads() { return [...Array(this.map.heads).keys()].filter((head) => !this.visible || this.visible.has(head)); }

  // The heads that the current stage shows.
  get shownHeads() {
    return this.mode === "heatmap" && typeof this.enlarged === "number" ? [this.enlarged] : this.heads;
  }

  set(changes) {
    Object.assign(this, changes);
    this.hovered = null;
    this.refresh();
    this.writeAddress();
  }

  chooseKind(name) {
    this.kind = this.capture.kinds.find((kind) => kind.name === name);
    const layers = this.capture.layers(this.kind);
    this.set({ layer: layers.includes(this.layer) ? this.layer : this.capture.bestLayer(this.kind), pinned: null });
  }

  toggleHead(head) {
    const heads = new Set(this.heads);
    if (!heads.delete(head)) heads.add(head);
    this.set({ visible: heads.size === 0 || heads.size === this.map.heads ? null : heads });
  }

  enlarge(head) { this.set({ enlarged: head }); }

  // ---- weights and colours, for the stages and the panel ----

  font(size, weight = 400) { return `${weight} ${size}px ${this.family}`; }
  ink(name) { return this.inks[name]; }

  colour(head) {
    const colour = this.capture.colours[head % this.capture.colours.length];
    if (!this.dark) return colour;
    const lighter = [1, 3, 5].map((at) => Math.round(parseInt(colour.slice(at, at + 2), 16) * 0.72 + 255 * 0.28));
    return `rgb(${lighter.join()})`;
  }

  shownCodes() { return this.map.meanCodes(this.shownHeads); }

  // The mean weights of the focused row or column.
  focusedWeights(focus) {
    const { queries, keys } = this.map;
    const codes = this.shownCodes();
    return focus.query !== undefined
      ? keys.map((_, k) => WEIGHTS[codes[focus.query * keys.length + k]])
      : queries.map((_, q) => WEIGHTS[codes[q * keys.length + focus.key]]);
  }

  // The largest code of each row, at least 1.
  rowMaxCodes(allCodes) {
    const { queries, keys } = this.map;
    return queries.map((_, q) => {
      let max = 1;
      for (const codes of allCodes)
        for (let k = 0; k < keys.length; ++k) max = Math.max(max, codes[q * keys.length + k]);
      return max;
    });
  }

  // The largest weight of each row among the heads for which lines are drawn.
  rowMaxWeights() {
    const { map, heads } = this;
    const drawn = this.mean ? [map.meanCodes(heads)] : heads.map((head) => map.codes(head));
    return this.rowMaxCodes(drawn).map((code) => WEIGHTS[code]);
  }

  // A function (row, code) => code for the colour table, relative to the row's largest code if requested.
  shade(codes) {
    if (!this.relative) return (q, code) => code;
    const scale = this.rowMaxCodes([codes]).map((max) => 255 / max);
    return (q, code) => Math.round(code * scale[q]);
  }

  // Draws a token, smaller or at last truncated to fit `room` pixels, with its space mark in a paler colour.
  drawLabel(context, token, x, y, room, colour) {
    let text = token;
    for (let size = parseFloat(context.font.match(/[\d.]+(?=px)/)); size > 9 && context.measureText(text).width > room;)
      context.font = context.font.replace(/[\d.]+px/, `${--size}px`);
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

  // ---- drawing ----

  refreshTheme() {
    this.dark = isDark();
    const style = getComputedStyle(this.element);
    this.family = style.fontFamily;
    this.inks = {};
    for (const name of ["--ink", "--soft", "--faint", "--rule", "--wash", "--accent", "--raised", "--head-focus"])
      this.inks[name] = style.getPropertyValue(name).trim();
    this.table = colourTable(this.dark);
  }

  refresh() {
    this.map = this.capture.map(this.kind, this.layer);
    this.sinks = this.map.queries.length ? this.map.sinks() : new Set();
    this.map.hide(this.sinkHidden ? this.sinks : new Set());
    if (this.visible) this.visible = new Set([...this.visible].filter((head) => head < this.map.heads));
    if (this.visible && this.visible.size === 0) this.visible = null;
    if (typeof this.enlarged === "number" && this.enlarged >= this.map.heads) this.enlarged = null;
    this.controls.refresh();
    this.refreshStage();
    this.refreshLegend();
    this.panel.refresh();
  }

  refreshStage() {
    const tiles = this.mode === "heatmap" && this.enlarged === null;
    this.stageBox.parentElement.classList.toggle("wide", tiles);
    this.width = this.stageBox.clientWidth;
    const scroll = this.stage && this.stage.sheet ? [this.stageBox.scrollLeft, this.stageBox.scrollTop] : [0, 0];
    this.stageBox.replaceChildren();
    this.stageBox.className = "stage";
    this.stageBox.style.height = "";
    this.thresholdNote = null;
    if (this.map.queries.length === 0 || this.map.keys.length === 0) {
      this.stage = null;
      this.stageBox.append(make("div", "empty", "There are no tokens to show."));
      return;
    }
    const Stage = this.mode === "lines" ? LinesStage : this.enlarged === null ? TilesStage : HeatmapStage;
    this.stage = new Stage(this, this.stageBox);
    if (!this.stage.sheet) return;
    [this.stageBox.scrollLeft, this.stageBox.scrollTop] = scroll;
    this.stage.sheet.canvas.setAttribute("role", "img");
    this.stage.sheet.canvas.setAttribute("aria-label", this.controls.explanation.textContent);
  }

  refreshLegend() {
    const notes = [];
    const add = (text, className = "") => notes.push(make("span", className, text));
    if (this.mode === "lines") notes.push((this.thresholdNote = make("span", "")));
    else notes.push(this.colourScale());
    if (this.stage instanceof TilesStage)
      add(`Rows: ${this.kind.query} tokens from top to bottom. Columns: ${this.kind.key} tokens from left to right. ` +
        "Click a heatmap to enlarge it.");
    if (this.map.hidden.size) {
      const names = [...this.map.hidden].map((key) => this.map.keys[key]).join(", ");
      add(`Left out: ${names}. Heads that look for nothing look there (an attention sink).`);
    }
    if (this.relative) add("Row contrast: weights are shaded relative to the largest weight of their row.");
    if (this.capture.dropped)
      add(`Weights below ${(100 * this.capture.floor).toPrecision(2)} % are not stored, to limit the page's size.`);
    if (this.capture.missing)
      add(`${this.capture.missing} weights are not finite numbers and are shown as 0.`, "warning");
    add(`Layers, heads and tokens are numbered from 0.${HAS_KEYBOARD ? ` Keys: ${KEY_HELP}.` : ""}`);
    this.legend.replaceChildren(...notes);
  }

  // Called by LinesStage with the smallest weight for which it draws a line.
  reportThreshold(weight) {
    if (this.thresholdNote)
      this.thresholdNote.textContent =
        `The opacity of a line is its weight. Weights below ${percent(weight)} have no line.`;
  }

  // The colours of a heatmap, from 0 to 100 % by the square root of the weight.
  colourScale() {
    const canvas = make("canvas", "");
    canvas.width = 256;
    canvas.height = 1;
    canvas.style.cssText = "width:180px;min-width:0;height:11px";
    const context = canvas.getContext("2d");
    const image = context.createImageData(256, 1);
    for (let c = 0; c < 256; ++c)
      image.data.set([this.table[3 * c], this.table[3 * c + 1], this.table[3 * c + 2], 255], 4 * c);
    context.putImageData(image, 0, 0);
    return make("span", "scale", "0 %", canvas, "100 % (middle: 25 %)");
  }

  // Scrolls to the pinned token.
  reveal() {
    if (!this.pinned || !this.stage || !this.stage.sheet) return;
    const { query, key } = this.pinned;
    this.stage.reveal(query !== undefined ? query : this.stage instanceof LinesStage ? key : 0);
  }

  // ---- events ----

  listen() {
    const onSheet = (handle) => (event) => { if (this.stage && this.stage.sheet) handle(event); };
    const refreshFocus = () => {
      this.stage.sheet.redraw();
      this.panel.refresh();
    };
    const hover = (focus) => {
      if (sameFocus(focus, this.hovered)) return;
      this.hovered = focus;
      refreshFocus();
    };
    this.stageBox.addEventListener("pointermove", onSheet((event) => hover(this.stage.sheet.under(event))));
    this.stageBox.addEventListener("pointerleave", onSheet(() => hover(null)));
    this.stageBox.addEventListener("click", onSheet((event) => {
      const focus = this.stage.sheet.under(event);
      this.pinned = sameFocus(focus, this.pinned) ? null : focus;
      refreshFocus();
      this.writeAddress();
    }));
    (this.isWholePage ? document : this.element).addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.onKey(event.key)) event.preventDefault();
    });
    onThemeChange(() => {
      this.refreshTheme();
      this.refresh();
    });
    const resized = () => { if (this.stageBox.clientWidth !== this.width) this.refresh(); };
    new ResizeObserver(() => requestAnimationFrame(resized)).observe(this.element);
    if (this.isWholePage)
      addEventListener("hashchange", () => { this.readAddress(); this.refresh(); this.reveal(); });
  }

  // Returns whether the key has a meaning.
  onKey(key) {
    switch (key) {
      case "ArrowUp": this.stepLayer(-1); return true;
      case "ArrowDown": this.stepLayer(1); return true;
      case "ArrowLeft": this.stepHead(-1); return true;
      case "ArrowRight": this.stepHead(1); return true;
      case "k": this.stepKind(); return true;
      case "v": this.set({ mode: this.mode === "lines" ? "heatmap" : "lines", enlarged: null }); return true;
      case "m": this.mode === "lines" ? this.set({ mean: !this.mean }) : this.enlarge("mean"); return true;
      case "s": this.set({ sinkHidden: !this.sinkHidden }); return true;
      case "r": this.set({ relative: !this.relative }); return true;
      case "Escape":
        this.set({ enlarged: null, visible: this.enlarged === null ? null : this.visible, pinned: null });
        return true;
    }
    return false;
  }

  stepLayer(by) {
    const layers = this.capture.layers(this.kind);
    const index = layers.indexOf(this.layer) + by;
    this.set({ layer: layers[Math.min(layers.length - 1, Math.max(0, index))] });
  }

  stepKind() {
    const { kinds } = this.capture;
    this.chooseKind(kinds[(kinds.indexOf(this.kind) + 1) % kinds.length].name);
  }

  // Shows the next head alone: its lines, or its heatmap enlarged.
  stepHead(by) {
    const count = this.map.heads;
    const next = (current) => (current === null ? (by > 0 ? 0 : count - 1) : (current + by + count) % count);
    if (this.mode === "heatmap") this.enlarge(next(typeof this.enlarged === "number" ? this.enlarged : null));
    else this.set({ visible: new Set([next(this.visible && this.visible.size === 1 ? [...this.visible][0] : null)]) });
  }

  // ---- the page address ----

  writeAddress() {
    if (!this.isWholePage) return;
    const parts = { kind: this.kind.name, layer: this.layer, view: this.mode };
    if (this.mode === "heatmap" && this.enlarged !== null)
      parts.head = this.enlarged === "mean" ? "mean" : this.enlarged;
    if (this.sinkHidden) parts.sink = "hidden";
    if (this.mode === "lines" && this.mean) parts.head = "mean";
    else if (this.mode === "lines" && this.visible) parts.head = [...this.visible].join();
    for (const side of ["query", "key"])
      if (this.pinned && this.pinned[side] !== undefined) parts[side] = this.pinned[side];
    if (this.relative) parts.contrast = "row";
    if (this.fitted) parts.fit = "all";
    history.replaceState(null, "", "#" + new URLSearchParams(parts));
  }

  // What an address does not name is off; without one, the view stays as it is.
  readAddress() {
    if (!this.isWholePage || location.hash.length < 2) return;
    const parts = new URLSearchParams(location.hash.slice(1));
    this.kind = this.capture.kinds.find((kind) => kind.name === parts.get("kind")) || this.kind;
    const layers = this.capture.layers(this.kind);
    const layer = [numberIn(parts.get("layer")), this.layer].find((candidate) => layers.includes(candidate));
    this.layer = layer !== undefined ? layer : layers.at(-1);
    this.mode = parts.get("view") === "heatmap" ? "heatmap" : "lines";
    this.readHeads(parts.get("head") || "");
    this.pinned = this.pinnedIn(parts);
    this.sinkHidden = parts.get("sink") === "hidden";
    this.relative = parts.get("contrast") === "row";
    this.fitted = parts.get("fit") === "all";
  }

  // `text`: "mean", heads separated by commas, or empty.
  readHeads(text) {
    const mean = text === "mean";
    const heads = text.split(",").map(numberIn).filter((head) => head !== null);
    const lines = this.mode === "lines";
    this.mean = lines && mean;
    this.visible = lines && heads.length ? new Set(heads) : null;
    this.enlarged = lines ? null : mean ? "mean" : heads.length ? heads[0] : null;
  }

  pinnedIn(parts) {
    const pinned = {};
    for (const side of ["query", "key"]) {
      const index = numberIn(parts.get(side));
      const count = this.capture.tokens[this.kind[side]].length;
      if (index !== null && index < count) pinned[side] = index;
    }
    return Object.keys(pinned).length ? pinned : null;
  }
}
