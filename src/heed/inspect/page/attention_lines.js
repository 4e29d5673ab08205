// Two columns of tokens with one line per weight: its colour is the head, its opacity the weight.

const MAX_LINES = 4000;
const OPACITY_LEVELS = 64;

class LinesStage {
  constructor(view, host) {
    this.view = view;
    this.sheet = new Sheet(host, (context, area) => this.draw(context, area), (point) => this.at(point));
    this.layout();
  }

  layout() {
    const { queries, keys } = this.view.map;
    this.rows = Math.max(queries.length, keys.length);
    this.rowHeight = this.rows > 60 ? 20 : 26;
    this.top = 34;
    const context = this.sheet.context;
    const room = this.sheet.visibleWidth();
    const isNarrow = room < 480;
    this.size = isNarrow ? 12.5 : 14;
    context.font = this.view.font(this.size);
    const widest = (tokens) => tokens.reduce((max, token) => Math.max(max, context.measureText(token).width), 40);
    this.numbered = this.rows > 12 ? (isNarrow ? 22 : 34) : 0;
    const limit = isNarrow ? room / 2 - 56 - this.numbered : Math.min(190, room * 0.28);
    const least = isNarrow ? 110 : 148; // for the headings
    const column = (tokens) => Math.max(least, Math.min(limit, widest(tokens)) + 22 + this.numbered);
    this.leftEdge = column(queries);
    this.rightEdge = Math.max(this.leftEdge + 60, room - column(keys));
    const height = this.top + this.rows * this.rowHeight + 10;
    this.sheet.resize(room, height, Math.min(height, Math.max(320, innerHeight * 0.72)));
  }

  y(index) { return this.top + (index + 0.5) * this.rowHeight; }

  at({ x, y }) {
    const index = Math.floor((y - this.top) / this.rowHeight);
    const { queries, keys } = this.view.map;
    if (x <= this.leftEdge + 12 && index >= 0 && index < queries.length) return { query: index };
    if (x >= this.rightEdge - 12 && index >= 0 && index < keys.length) return { key: index };
    return null;
  }

  // The layers to draw, one per visible head (or one for their mean): codes, colour and vertical offset.
  layers() {
    const { map, heads, mean } = this.view;
    if (mean) return [{ codes: map.meanCodes(heads), colour: this.view.ink("--accent"), shift: 0 }];
    const step = Math.min(2.5, (this.rowHeight - 9) / Math.max(1, heads.length - 1));
    return heads.map((head, i) => ({
      codes: map.codes(head), colour: this.view.colour(head), shift: (i - (heads.length - 1) / 2) * step,
    }));
  }

  // The smallest code for which a line is drawn: at least 1 %, and large enough for MAX_LINES.
  threshold(layers, rows) {
    const counts = new Uint32Array(257);
    for (const { codes } of layers) this.eachWeight(codes, rows, (q, k, code) => { ++counts[code]; });
    const min = Math.max(codeOf(0.01), 1);
    let code = 256;
    for (let lines = 0; code > min && lines + counts[code - 1] <= MAX_LINES; --code) lines += counts[code - 1];
    return Math.min(code, 255);
  }

  // Visits the weights of the focused token, or without one those with at least one end in rows [first, end).
  eachWeight(codes, [first, end], visit) {
    const { queries, keys } = this.view.map;
    const focus = this.view.focus || {};
    const focused = focus.query !== undefined || focus.key !== undefined;
    for (let q = 0; q < queries.length; ++q) {
      if (focus.query !== undefined && focus.query !== q) continue;
      const all = focused || (q >= first && q < end);
      let [from, to] = all ? [0, keys.length] : [first, Math.min(end, keys.length)];
      if (focus.key !== undefined) [from, to] = [focus.key, focus.key + 1];
      for (let k = from; k < to; ++k) {
        const code = codes[q * keys.length + k];
        if (code !== 0) visit(q, k, code);
      }
    }
  }

  draw(context, area) {
    const rows = [
      Math.max(0, Math.floor((area.y - this.top) / this.rowHeight)),
      Math.min(this.rows, Math.ceil((area.y + area.height - this.top) / this.rowHeight)),
    ];
    const layers = this.layers();
    const minCode = this.threshold(layers, rows);
    const rowMax = this.view.relative ? this.view.rowMaxWeights() : null;
    context.lineWidth = layers.length > 1 ? 2 : 2.4;
    context.lineCap = "round";
    for (const layer of layers) this.drawLines(context, layer, rows, minCode, rowMax);
    context.globalAlpha = 1;
    this.view.reportThreshold(WEIGHTS[minCode]);
    this.drawTokens(context, rows);
    this.drawHeadings(context, area);
  }

  // Lines of the same opacity level form one path, because thousands of strokes would be slow.
  drawLines(context, { codes, colour, shift }, rows, minCode, rowMax) {
    const [x0, x1] = [this.leftEdge, this.rightEdge];
    const bend = (x1 - x0) * 0.38;
    const paths = [];
    this.eachWeight(codes, rows, (q, k, code) => {
      if (code < minCode) return;
      const opacity = Math.min(1, WEIGHTS[code] / (rowMax ? rowMax[q] : 1));
      const level = Math.ceil(opacity * OPACITY_LEVELS);
      const path = paths[level] || (paths[level] = new Path2D());
      const [y0, y1] = [this.y(q) + shift, this.y(k) + shift];
      path.moveTo(x0, y0);
      path.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    });
    context.strokeStyle = colour;
    paths.forEach((path, level) => {
      context.globalAlpha = (level - 0.5) / OPACITY_LEVELS;
      context.stroke(path);
    });
  }

  drawTokens(context, [first, end]) {
    const { queries, keys } = this.view.map;
    const { focus } = this.view;
    const weights = focus ? this.view.focusedWeights(focus) : null;
    const query = focus ? focus.query : undefined;
    const key = focus && query === undefined ? focus.key : undefined;
    for (let i = first; i < end; ++i) {
      if (i < queries.length)
        this.drawToken(context, queries[i], i, -1, {
          selected: query === i, weight: key !== undefined ? weights[i] : 0, dimmed: query !== undefined && query !== i,
        });
      if (i < keys.length)
        this.drawToken(context, keys[i], i, 1, {
          selected: focus && focus.key === i, weight: query !== undefined ? weights[i] : 0,
          dimmed: (key !== undefined && key !== i) || this.view.map.hidden.has(i),
        });
    }
  }

  // side: -1 for the left column, which is right-aligned, 1 for the right column. weight: that between the token
  // and the focused one.
  drawToken(context, token, index, side, { selected, weight, dimmed }) {
    const x = side < 0 ? this.leftEdge - 10 : this.rightEdge + 10;
    const y = this.y(index);
    const room = (side < 0 ? this.leftEdge : this.sheet.width - this.rightEdge) - 16 - this.numbered;
    const view = this.view;
    context.font = view.font(this.size, selected ? 650 : 400);
    if (selected || weight > 0.004) {
      const width = Math.min(room, context.measureText(token).width) + 12;
      context.fillStyle = view.ink("--accent");
      context.globalAlpha = selected ? 0.22 : Math.min(0.5, 0.06 + weight * 0.6);
      context.beginPath();
      const left = side < 0 ? x - width + 6 : x - 6;
      context.roundRect(left, y - this.rowHeight / 2 + 1.5, width, this.rowHeight - 3, 5);
      context.fill();
      context.globalAlpha = 1;
    }
    context.textBaseline = "middle";
    context.textAlign = side < 0 ? "right" : "left";
    view.drawLabel(context, token, x, y + 0.5, room, dimmed ? view.ink("--faint") : view.ink("--ink"));
    if (this.numbered) {
      context.font = view.font(11);
      context.fillStyle = view.ink("--faint");
      context.textAlign = side < 0 ? "left" : "right";
      context.fillText(index, side < 0 ? 2 : this.sheet.width - 4, y + 0.5);
    }
  }

  drawHeadings(context, area) {
    const view = this.view;
    context.fillStyle = view.ink("--raised");
    context.fillRect(0, area.y, this.sheet.width, 28);
    context.fillStyle = view.ink("--soft");
    context.font = view.font(12.5, 600);
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillText(`${view.map.kind.query} (queries)`, this.leftEdge - 10, area.y + 14);
    context.textAlign = "left";
    context.fillText(`${view.map.kind.key} (keys)`, this.rightEdge + 10, area.y + 14);
  }

  // Scrolls to a row.
  reveal(index) { this.sheet.reveal(this.y(index)); }
}
