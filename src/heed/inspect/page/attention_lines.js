// Tokens in two columns with a line for every weight, coloured by head, as opaque as it is large.

const LINES_AT_MOST = 4000;
const OPACITIES = 64;

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
    context.font = this.view.font(14);
    const widest = (tokens) => tokens.reduce((most, token) => Math.max(most, context.measureText(token).width), 40);
    this.numbered = this.rows > 12 ? 34 : 0;
    const room = this.sheet.visibleWidth();
    const limit = Math.min(190, room * 0.28);
    const column = (tokens) => Math.max(148, Math.min(limit, widest(tokens)) + 22 + this.numbered);
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

  // What to draw: for each shown head (or their mean) the codes and a colour.
  layers() {
    const { map, heads, mean } = this.view;
    if (mean) return [{ codes: map.meanCodes(heads), colour: this.view.ink("--accent"), shift: 0 }];
    const step = Math.min(2.5, (this.rowHeight - 9) / Math.max(1, heads.length - 1));
    return heads.map((head, i) => ({
      codes: map.codes(head), colour: this.view.colour(head), shift: (i - (heads.length - 1) / 2) * step,
    }));
  }

  // Which codes are worth a line: at least 1 % of a row, and no more lines than can be told apart.
  threshold(layers, rows) {
    const counts = new Uint32Array(257);
    for (const { codes } of layers) this.eachWeight(codes, rows, (q, k, code) => { ++counts[code]; });
    const least = Math.max(codeOf(0.01), 1);
    let code = 256;
    for (let lines = 0; code > least && lines + counts[code - 1] <= LINES_AT_MOST; --code) lines += counts[code - 1];
    return Math.min(code, 255);
  }

  // Visits the weights of the focused token, or those with at least one end among `rows`.
  eachWeight(codes, [first, end], visit) {
    const { queries, keys } = this.view.map;
    const focus = this.view.focus || {};
    const alone = focus.query !== undefined || focus.key !== undefined;
    for (let q = 0; q < queries.length; ++q) {
      if (focus.query !== undefined && focus.query !== q) continue;
      const all = alone || (q >= first && q < end);
      const [from, to] = focus.key !== undefined ? [focus.key, focus.key + 1] : all ? [0, keys.length] : [first, Math.min(end, keys.length)];
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
    const least = this.threshold(layers, rows);
    const strongest = this.view.relative ? this.view.rowMaxima() : null;
    context.lineWidth = layers.length > 1 ? 2 : 2.4;
    context.lineCap = "round";
    for (const layer of layers) this.drawLines(context, layer, rows, least, strongest);
    context.globalAlpha = 1;
    this.view.drawnAbove(WEIGHTS[least]);
    this.drawTokens(context, rows);
    this.drawHeadings(context, area);
  }

  // Lines of the same opacity are one path: thousands of strokes would take too long.
  drawLines(context, { codes, colour, shift }, rows, least, strongest) {
    const [x0, x1] = [this.leftEdge, this.rightEdge];
    const bend = (x1 - x0) * 0.38;
    const paths = [];
    this.eachWeight(codes, rows, (q, k, code) => {
      if (code < least) return;
      const opacity = Math.min(1, WEIGHTS[code] / (strongest ? strongest[q] : 1));
      const level = Math.ceil(opacity * OPACITIES);
      const path = paths[level] || (paths[level] = new Path2D());
      const [y0, y1] = [this.y(q) + shift, this.y(k) + shift];
      path.moveTo(x0, y0);
      path.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    });
    context.strokeStyle = colour;
    paths.forEach((path, level) => {
      context.globalAlpha = (level - 0.5) / OPACITIES;
      context.stroke(path);
    });
  }

  drawTokens(context, [first, end]) {
    const { queries, keys } = this.view.map;
    const { focus } = this.view;
    const share = focus ? this.view.shares(focus) : null;
    const lookingAt = focus && focus.query !== undefined;
    for (let i = first; i < end; ++i) {
      if (i < queries.length)
        this.drawToken(context, queries[i], i, -1, focus && focus.query === i, share && !lookingAt ? share[i] : 0, focus && lookingAt && focus.query !== i);
      if (i < keys.length)
        this.drawToken(context, keys[i], i, 1, focus && focus.key === i, share && lookingAt ? share[i] : 0, focus && !lookingAt && focus.key !== i);
    }
  }

  // side -1: the left column, set flush right; 1: the right column.
  drawToken(context, token, index, side, chosen, share, dimmed) {
    const x = side < 0 ? this.leftEdge - 10 : this.rightEdge + 10;
    const y = this.y(index);
    const room = (side < 0 ? this.leftEdge : this.sheet.width - this.rightEdge) - 16 - this.numbered;
    const view = this.view;
    context.font = view.font(14, chosen ? 650 : 400);
    if (chosen || share > 0.004) {
      const width = Math.min(room, context.measureText(token).width) + 12;
      context.fillStyle = view.ink("--accent");
      context.globalAlpha = chosen ? 0.22 : Math.min(0.5, 0.06 + share * 0.6);
      context.beginPath();
      context.roundRect(side < 0 ? x - width + 6 : x - 6, y - this.rowHeight / 2 + 1.5, width, this.rowHeight - 3, 5);
      context.fill();
      context.globalAlpha = 1;
    }
    context.textBaseline = "middle";
    context.textAlign = side < 0 ? "right" : "left";
    view.drawPiece(context, token, x, y + 0.5, room, dimmed ? view.ink("--faint") : view.ink("--ink"));
    if (this.numbered) {
      context.font = view.font(11);
      context.fillStyle = view.ink("--faint");
      context.textAlign = side < 0 ? "left" : "right";
      context.fillText(index + 1, side < 0 ? 2 : this.sheet.width - 4, y + 0.5);
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
    context.fillText(`${view.map.kind.query} token looks`, this.leftEdge - 10, area.y + 14);
    context.textAlign = "left";
    context.fillText(`at ${view.map.kind.key} token`, this.rightEdge + 10, area.y + 14);
  }

  // Brings a row into sight.
  reveal(index) { this.sheet.reveal(this.y(index)); }
}
