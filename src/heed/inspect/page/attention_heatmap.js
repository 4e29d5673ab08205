// Heatmaps: all heads of a layer as tiles, or one head enlarged with token labels.

// The colours of codes 0 to 255, from the background to the darkest (in dark mode brightest) colour, as RGB bytes.
function colourTable(dark) {
  const stops = dark
    ? [[27, 30, 36], [33, 56, 96], [46, 104, 176], [104, 170, 240], [226, 240, 255]]
    : [[250, 250, 250], [198, 219, 243], [107, 168, 222], [33, 104, 182], [8, 40, 96]];
  const table = new Uint8ClampedArray(256 * 3);
  for (let c = 0; c < 256; ++c) {
    const position = (c / 255) * (stops.length - 1);
    const from = Math.min(stops.length - 2, Math.floor(position));
    for (let i = 0; i < 3; ++i)
      table[3 * c + i] = stops[from][i] + (stops[from + 1][i] - stops[from][i]) * (position - from);
  }
  return table;
}

// Paints codes into a canvas of at most `size` by `size` pixels. A pixel that covers several weights
// shows the largest, so that single large weights stay visible.
function paintSmall(canvas, codes, rows, cols, size, table, shade) {
  const ratio = devicePixelRatio || 1;
  const cell = size / Math.max(rows, cols);
  const [width, height] = [Math.max(1, Math.round(cols * cell)), Math.max(1, Math.round(rows * cell))];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const bounds = (pixel, pixels, count) => {
    const first = Math.floor((pixel * count) / pixels);
    return [first, Math.max(first + 1, Math.floor(((pixel + 1) * count) / pixels))];
  };
  const columns = Array.from({ length: canvas.width }, (_, x) => bounds(x, canvas.width, cols));
  for (let y = 0, at = 0; y < canvas.height; ++y) {
    const [top, bottom] = bounds(y, canvas.height, rows);
    for (let x = 0; x < canvas.width; ++x, at += 4) {
      let max = 0;
      for (let q = top; q < bottom; ++q)
        for (let k = columns[x][0]; k < columns[x][1]; ++k)
          max = Math.max(max, shade(q, codes[q * cols + k]));
      image.data[at] = table[3 * max];
      image.data[at + 1] = table[3 * max + 1];
      image.data[at + 2] = table[3 * max + 2];
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

// The visible heads and their mean as small heatmaps; a click enlarges one.
class TilesStage {
  constructor(view, host) {
    const { map, heads } = view;
    const tiles = make("div", "tiles");
    const panes = heads.length > 1 ? ["mean", ...heads] : heads;
    for (const head of panes) {
      const swatch = make("span", "swatch");
      if (head !== "mean") swatch.style.setProperty("--head", view.colour(head));
      const name = make("span", "name", swatch, head === "mean" ? `mean of ${heads.length} heads` : `head ${head}`);
      const canvas = make("canvas", "");
      const tile = makeButton("tile", name, () => view.enlarge(head));
      tile.append(canvas);
      tile.title = "Enlarge";
      tiles.append(tile);
      const codes = head === "mean" ? map.meanCodes(heads) : map.codes(head);
      paintSmall(canvas, codes, map.queries.length, map.keys.length, 150, view.table, view.shade(codes));
    }
    host.append(tiles);
  }
}

// One head or the mean: with cells large enough to point at, or fitted into the window.
class HeatmapStage {
  constructor(view, host) {
    this.view = view;
    this.sheet = new Sheet(host, (context, area) => this.draw(context, area), (point) => this.at(point));
    this.layout();
  }

  layout() {
    const { queries, keys } = this.view.map;
    const context = this.sheet.context;
    context.font = this.view.font(13);
    const widest = (tokens) => tokens.reduce((max, token) => Math.max(max, context.measureText(token).width), 30);
    const width = this.sheet.visibleWidth();
    this.left = Math.min(150, width * 0.36, widest(queries)) + 20;
    this.top = Math.min(110, widest(keys)) + 20;
    const height = Math.max(320, innerHeight * 0.72);
    const fit = Math.min((width - this.left - 8) / keys.length, (height - this.top - 8) / queries.length);
    this.cell = this.view.fitted ? Math.max(1, fit) : Math.min(44, Math.max(17, fit));
    const fullWidth = this.left + keys.length * this.cell + 8;
    const fullHeight = this.top + queries.length * this.cell + 8;
    const scrollBar = fullWidth > width ? 18 : 0;
    this.sheet.resize(Math.max(width, fullWidth), fullHeight, Math.min(fullHeight + scrollBar, height));
    this.codes = this.view.shownCodes();
    this.shade = this.view.shade(this.codes);
  }

  // The focus {query, key} at a point. The labels stay fixed while the cells scroll.
  at({ x, y, viewX, viewY }) {
    const { queries, keys } = this.view.map;
    const query = Math.floor((y - this.top) / this.cell);
    const key = Math.floor((x - this.left) / this.cell);
    const focus = {};
    if (viewY >= this.top && query >= 0 && query < queries.length) focus.query = query;
    if (viewX >= this.left && key >= 0 && key < keys.length) focus.key = key;
    return focus.query === undefined && focus.key === undefined ? null : focus;
  }

  draw(context, area) {
    const { queries, keys } = this.view.map;
    const { cell, left, top } = this;
    const firstRow = Math.max(0, Math.floor(area.y / cell));
    const lastRow = Math.min(queries.length, Math.ceil((area.y + area.height - top) / cell));
    const firstCol = Math.max(0, Math.floor(area.x / cell));
    const lastCol = Math.min(keys.length, Math.ceil((area.x + area.width - left) / cell));
    const side = cell >= 8 ? cell - 1 : cell + 0.5;
    const table = this.view.table;
    for (let q = firstRow; q < lastRow; ++q)
      for (let k = firstCol; k < lastCol; ++k) {
        const code = this.shade(q, this.codes[q * keys.length + k]);
        context.fillStyle = `rgb(${table[3 * code]},${table[3 * code + 1]},${table[3 * code + 2]})`;
        context.fillRect(left + k * cell, top + q * cell, side, side);
      }
    if (cell >= 30) this.drawNumbers(context, [firstRow, lastRow], [firstCol, lastCol]);
    this.drawFocus(context);
    this.drawLabels(context, area, [firstRow, lastRow], [firstCol, lastCol]);
  }

  drawNumbers(context, rows, cols) {
    const keys = this.view.map.keys.length;
    context.font = this.view.font(11.5);
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let q = rows[0]; q < rows[1]; ++q)
      for (let k = cols[0]; k < cols[1]; ++k) {
        const code = this.codes[q * keys + k];
        if (WEIGHTS[code] < 0.005) continue;
        const strong = this.shade(q, code) > 140;
        context.fillStyle = strong === this.view.dark ? "#10131a" : strong ? "#ffffff" : this.view.ink("--soft");
        const x = this.left + (k + 0.5) * this.cell - 0.5;
        context.fillText(Math.round(100 * WEIGHTS[code]), x, this.top + (q + 0.5) * this.cell);
      }
  }

  drawFocus(context) {
    const focus = this.view.focus;
    if (!focus) return;
    const { queries, keys } = this.view.map;
    const { cell, left, top } = this;
    context.strokeStyle = this.view.ink("--head-focus");
    context.lineWidth = 1.5;
    if (focus.query !== undefined)
      context.strokeRect(left - 1, top + focus.query * cell - 1, keys.length * cell + 1, cell + 1);
    if (focus.key !== undefined)
      context.strokeRect(left + focus.key * cell - 1, top - 1, cell + 1, queries.length * cell + 1);
  }

  drawLabels(context, area, rows, cols) {
    const view = this.view;
    const { queries, keys } = view.map;
    const { cell, left, top } = this;
    context.fillStyle = view.ink("--raised");
    context.fillRect(area.x, area.y, area.width, top - 1);
    context.fillRect(area.x, area.y, left - 1, area.height);
    const size = Math.min(13, Math.max(9, cell - 3));
    const shown = (index, focused) => cell >= 11 || focused === index;
    const ink = (index, focused, hidden) =>
      view.ink(!hidden && (focused === undefined || focused === index) ? "--ink" : "--faint");
    const focus = view.focus || {};
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (let q = rows[0]; q < rows[1]; ++q) {
      const y = top + (q + 0.5) * cell;
      if (y < area.y + top - 2 || !shown(q, focus.query)) continue;
      context.font = view.font(cell >= 11 ? size : 13, focus.query === q ? 650 : 400);
      view.drawLabel(context, queries[q], area.x + left - 8, y, left - 14, ink(q, focus.query));
    }
    context.textAlign = "left";
    for (let k = cols[0]; k < cols[1]; ++k) {
      const x = left + (k + 0.5) * cell;
      if (x < area.x + left - 2 || !shown(k, focus.key)) continue;
      context.save();
      context.translate(x, area.y + top - 8);
      context.rotate(-Math.PI / 2);
      context.font = view.font(cell >= 11 ? size : 13, focus.key === k ? 650 : 400);
      view.drawLabel(context, keys[k], 0, 0, top - 14, ink(k, focus.key, view.map.hidden.has(k)));
      context.restore();
    }
    context.fillStyle = view.ink("--raised");
    context.fillRect(area.x, area.y, left - 1, top - 1);
    context.fillStyle = view.ink("--soft");
    context.font = view.font(12, 600);
    context.textAlign = "left";
    context.fillText(`${view.map.kind.query} ↓`, area.x + 4, area.y + top - 12);
    context.textAlign = "right";
    context.fillText(`${view.map.kind.key} →`, area.x + left - 6, area.y + 12);
  }

  // Scrolls to a row.
  reveal(index) { this.sheet.reveal(this.top + (index + 0.5) * this.cell); }
}
