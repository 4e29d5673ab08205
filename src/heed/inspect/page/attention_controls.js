// The bar above a view, with buttons for kind, layer, view and heads, and the explanation below it.

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
    this.relativeButton = this.toggle("Row contrast", "relative", "Shade each row relative to its largest weight");
    this.fittedButton = this.toggle("Fit", "fitted", "Show the whole heatmap at once");
    const toggles = make("div", "choice", this.backButton, this.meanButton, this.relativeButton, this.fittedButton);
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
    press(this.layerRow, view.layer);
    press(this.modeRow, view.mode);
    this.backButton.hidden = !large;
    this.meanButton.hidden = view.mode !== "lines";
    this.fittedButton.hidden = !large;
    setPressed(this.meanButton, view.mean);
    setPressed(this.relativeButton, view.relative);
    setPressed(this.fittedButton, view.fitted);
    this.refreshExplanation(large);
  }

  refreshLayers() {
    const layers = this.view.capture.layers(this.view.kind);
    if (this.layerBox.dataset.layers === layers.join()) return;
    this.layerBox.dataset.layers = layers.join();
    this.layerRow = segments("numbers", layers.map((layer) => [layer, layer + 1]), (layer) => this.view.set({ layer }));
    this.layerBox.replaceChildren(make("span", "", "Layer"), this.layerRow);
  }

  refreshHeads() {
    const { view } = this;
    const key = `${view.map.heads} ${view.dark}`;
    if (this.headBox.dataset.key !== key) {
      this.headBox.dataset.key = key;
      const heads = make("div", "heads");
      for (let head = 0; head < view.map.heads; ++head) {
        const button = makeButton("", String(head + 1), () => view.toggleHead(head));
        button.title = `Head ${head + 1}: click to show or hide it, double-click to show it alone`;
        button.style.setProperty("--head", view.colour(head));
        button.addEventListener("dblclick", () => view.set({ visible: new Set([head]) }));
        heads.append(button);
      }
      const all = makeButton("plain", "All", () => view.set({ visible: null }));
      all.title = "Show all heads";
      this.headBox.replaceChildren(make("span", "", "Heads"), heads, all);
    }
    const shown = new Set(view.shownHeads);
    this.headBox.querySelectorAll(".heads button").forEach((button, head) => setPressed(button, shown.has(head)));
  }

  refreshExplanation(large) {
    const { view } = this;
    let title = `${view.kind.label}, layer ${view.layer + 1}`;
    if (large && view.enlarged === "mean") title += `, mean of ${view.heads.length} heads`;
    else if (large) title += `, head ${view.enlarged + 1} of ${view.map.heads}`;
    const reading = view.mode === "lines"
      ? "Lines connect each query (left) with its keys (right)."
      : "Rows are queries, columns are keys.";
    this.explanation.replaceChildren(make("b", "", title + ". "), `${view.kind.sentence} ${reading}`);
  }
}
