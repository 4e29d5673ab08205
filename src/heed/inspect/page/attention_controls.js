// The bar above a view, with buttons for kind, layer, view and heads, and the explanation below it.

const MAX_LAYER_BUTTONS = 8;

class AttentionControls {
  constructor(view) {
    this.view = view;
    const kinds = view.capture.kinds.map((kind) => [kind.name, kind.label]);
    this.kindRow = segments("", kinds, (name) => view.chooseKind(name));
    this.layerBox = make("div", "choice");
    this.modeRow = segments("", [["lines", "Lines"], ["heatmap", "Heatmaps"]],
      (mode) => view.set({ mode, enlarged: null }));
    this.headBox = make("div", "choice");
    this.backButton = makeButton("plain", "← All heads", () => view.set({ enlarged: null }));
    this.meanButton = this.toggle("Mean of heads", "mean", "Draw the mean of the visible heads");
    this.sinkButton = this.toggle("Hide sinks", "sinkHidden",
      "Leave out the tokens that heads look at when they look for nothing");
    this.relativeButton = this.toggle("Row contrast", "relative", "Shade each row relative to its largest weight");
    this.fittedButton = this.toggle("Fit", "fitted", "Show the whole heatmap at once");
    const toggles = make("div", "choice", this.backButton, this.meanButton, this.sinkButton, this.relativeButton, this.fittedButton);
    this.explanation = make("div", "explanation");
    this.bar = make("div", "bar", this.kindRow, this.layerBox, this.modeRow, this.headBox, toggles);
  }

  // A button that switches a boolean property of the view.
  toggle(label, property, title) {
    const button = makeButton("plain", label, () => this.view.set({ [property]: !this.view[property] }));
    button.title = title;
    return button;
  }

  refresh() {
    const { view } = this;
    const large = view.mode === "heatmap" && view.enlarged !== null;
    this.refreshLayers();
    this.refreshHeads();
    press(this.kindRow, view.kind.name);
    this.pressLayer(view.layer);
    press(this.modeRow, view.mode);
    this.backButton.hidden = !large;
    this.meanButton.hidden = view.mode !== "lines";
    this.fittedButton.hidden = !large;
    this.sinkButton.hidden = !view.sinks.size;
    setPressed(this.sinkButton, view.sinkHidden);
    setPressed(this.meanButton, view.mean);
    setPressed(this.relativeButton, view.relative);
    setPressed(this.fittedButton, view.fitted);
    this.refreshExplanation(large);
  }

  refreshLayers() {
    const layers = this.view.capture.layers(this.view.kind);
    if (this.layerBox.dataset.layers === layers.join()) return;
    this.layerBox.dataset.layers = layers.join();
    if (layers.length > MAX_LAYER_BUTTONS) return this.makeSlider(layers);
    const row = segments("numbers", layers.map((layer) => [layer, layer]), (layer) => this.view.set({ layer }));
    this.layerBox.replaceChildren(make("span", "", "Layer"), row);
    this.pressLayer = (layer) => press(row, layer);
  }

  // Many layers would be rows of buttons.
  makeSlider(layers) {
    const slider = make("input", "");
    Object.assign(slider, { type: "range", min: 0, max: layers.length - 1, step: 1 });
    slider.setAttribute("aria-label", "Layer");
    slider.addEventListener("input", () => this.view.set({ layer: layers[slider.value] }));
    slider.addEventListener("keydown", (event) => event.stopPropagation());
    const number = make("b", "");
    this.layerBox.replaceChildren(make("span", "", "Layer"), slider, number, make("span", "", `of ${layers.length} layers`));
    this.pressLayer = (layer) => {
      slider.value = layers.indexOf(layer);
      number.textContent = layer;
      slider.setAttribute("aria-valuetext", `${layer} of ${layers.length} layers`);
    };
  }

  refreshHeads() {
    const { view } = this;
    const key = `${view.map.heads} ${view.dark}`;
    if (this.headBox.dataset.key !== key) {
      this.headBox.dataset.key = key;
      const heads = make("div", "heads");
      for (let head = 0; head < view.map.heads; ++head) {
        const button = makeButton("", String(head), () => view.toggleHead(head));
        button.title = `Head ${head}: click to show or hide it, double-click to show it alone`;
        button.style.setProperty("--head", view.colour(head));
        button.addEventListener("dblclick", () => view.set({ visible: new Set([head]) }));
        heads.append(button);
      }
      const all = makeButton("plain", "All", () => view.set({ visible: null }));
      all.title = "Show all heads";
      this.headBox.replaceChildren(make("span", "", "Heads"), heads, all);
      this.allButton = all;
    }
    this.allButton.hidden = view.visible === null;
    const shown = new Set(view.shownHeads);
    this.headBox.querySelectorAll(".heads button").forEach((button, head) => setPressed(button, shown.has(head)));
  }

  refreshExplanation(large) {
    const { view } = this;
    let title = `${view.kind.label}, layer ${view.layer}`;
    if (large && view.enlarged === "mean") title += `, mean of ${view.heads.length} heads`;
    else if (large) title += `, head ${view.enlarged}`;
    else if (view.mode === "lines" && view.mean) title += `, mean of ${view.heads.length} heads`;
    const reading = view.mode === "lines"
      ? "Lines connect each query (left) with its keys (right)."
      : "Rows are queries, columns are keys.";
    this.explanation.replaceChildren(make("b", "", title + ". "), `${view.kind.sentence} ${reading}`);
  }
}
