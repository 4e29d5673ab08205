// A chart: curves over steps or time, with axes and the values at the pointer.

// Round numbers (1, 2 or 5 times a power of ten) from `low` to `high`, about `count` of them.
function ticks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.75) * power;
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) list.push(i * step);
  return list;
}

// Round times in seconds.
function timeTicks(high, count) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
  const step = steps.find((candidate) => high / candidate <= count) || 86400 * Math.ceil(high / 86400 / count);
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => i * step);
}

function formatTime(seconds) {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.round(seconds % 60)];
  if (seconds >= 3600) return `${hours} h` + (minutes ? ` ${minutes} min` : "");
  if (seconds >= 60) return `${minutes} min` + (rest ? ` ${rest} s` : "");
  return `${rest} s`;
}

function formatTick(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return +(value / 1e6).toFixed(3) + "M";
  if (size >= 1e4) return +(value / 1e3).toFixed(2) + "k";
  if (size !== 0 && size < 1e-3) return (+value.toPrecision(3)).toExponential().replace("e-", "e−");
  return String(+value.toPrecision(6));
}

function formatValue(value) {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  if (size !== 0 && size < 1e-3) return value.toExponential(2).replace("e-", "e−");
  return value.toPrecision(4);
}

// A centred moving average with triangular weights, which does not lag. The window shrinks at both
// ends, to preserve a steep beginning.
function smoothed(values, radius) {
  return values.map((_, i) => {
    let [sum, weights] = [0, 0];
    const near = Math.max(Math.min(radius, i, values.length - 1 - i), Math.ceil(radius / 2));
    for (let j = Math.max(0, i - near); j <= Math.min(values.length - 1, i + near); ++j) {
      if (values[j] === null) continue;
      const weight = near + 1 - Math.abs(j - i);
      sum += weight * values[j];
      weights += weight;
    }
    return weights ? sum / weights : null;
  });
}

// The value range of the axis. It may cut off single spikes: 0.5 % of the values of a noisy series at each end.
function rangeOf(series, log) {
  let [low, high] = [Infinity, -Infinity];
  for (const { y, noisy } of series) {
    const values = y.filter((value) => value !== null && (!log || value > 0)).sort((a, b) => a - b);
    if (!values.length) continue;
    const outside = noisy ? Math.floor(values.length * 0.005) : 0;
    low = Math.min(low, values[outside]);
    high = Math.max(high, values[values.length - 1 - outside]);
  }
  return [low, high];
}

class Chart {
  // options: title, series [{name, colour, x: {step, seconds}, y, min, max, faint, dots, noisy}],
  // log, zero (the axis begins at 0), link (called with the x under the pointer, or null).
  constructor(host, options) {
    Object.assign(this, options);
    this.box = make("div", "chart");
    this.head = make("div", "head");
    this.keys = this.series.filter((series) => series.name).map((series) => {
      const swatch = make("i", "");
      swatch.style.background = series.colour;
      const value = make("b", "");
      return { series, value, element: make("span", "key", swatch, series.name, value) };
    });
    this.position = make("span", "position");
    this.head.append(make("h3", "", this.title), ...this.keys.map((key) => key.element), this.position);
    this.canvas = svg("svg", { height: 220, role: "img", "aria-label": this.title });
    this.box.append(this.head, this.canvas);
    host.append(this.box);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.link(null));
  }

  scales(axis) {
    this.axis = axis;
    this.width = this.canvas.clientWidth || 520;
    this.area = { left: 52, right: this.width - 10, top: 12, bottom: 192 };
    const ends = this.series.flatMap((series) => series.x[axis]);
    const [first, last] = [Math.min(0, ...ends), Math.max(1, ...ends)];
    let [low, high] = rangeOf(this.series, this.log);
    if (this.zero) low = Math.min(0, low);
    if (!(high > low)) [low, high] = this.log ? [low / 2, low * 2] : [low - Math.abs(low) * 0.1 - 1e-9, high + Math.abs(high) * 0.1 + 1e-9];
    const change = this.log ? Math.log : (value) => value;
    const margin = (change(high) - change(low)) * 0.04;
    const [bottom, top] = [change(low) - (this.zero ? 0 : margin), change(high) + margin];
    this.lowest = this.log ? Math.exp(bottom) : bottom;
    this.highest = this.log ? Math.exp(top) : top;
    this.last = last;
    this.x = (value) => this.area.left + ((value - first) / (last - first)) * (this.area.right - this.area.left);
    this.y = (value) => this.area.bottom - ((change(Math.max(value, this.log ? 1e-300 : -Infinity)) - bottom) / (top - bottom)) * (this.area.bottom - this.area.top);
  }

  yTicks() {
    if (!this.log) return ticks(this.lowest, this.highest, 5);
    const list = [];
    for (let power = Math.floor(Math.log10(this.lowest)); power <= Math.log10(this.highest); ++power)
      for (const factor of [1, 2, 5]) list.push(factor * 10 ** power);
    const inside = list.filter((value) => value >= this.lowest && value <= this.highest);
    if (inside.length < 3) return ticks(this.lowest, this.highest, 5).filter((value) => value > 0);
    return inside.length > 8 ? inside.filter((value) => Math.abs(Math.log10(value) % 1) < 1e-9) : inside;
  }

  draw(axis) {
    this.scales(axis);
    const { left, right, top, bottom } = this.area;
    this.canvas.replaceChildren();
    const clip = "clip-" + this.title.replace(/\W/g, "");
    this.canvas.append(svg("clipPath", { id: clip }, svg("rect", { x: left - 5, y: top - 5, width: right - left + 10, height: bottom - top + 10 })));
    for (const value of this.yTicks()) {
      const y = Math.round(this.y(value));
      this.canvas.append(svg("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }),
        svg("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, formatTick(value)));
    }
    const count = Math.max(2, Math.floor(this.width / 90));
    for (const value of axis === "seconds" ? timeTicks(this.last, count) : ticks(0, this.last, count))
      this.canvas.append(svg("text", { x: this.x(value), y: bottom + 18, "text-anchor": "middle" }, axis === "seconds" && value > 0 ? formatTime(value) : formatTick(value)));
    const curves = svg("g", { "clip-path": `url(#${clip})` });
    for (const series of this.series) this.drawSeries(curves, series);
    this.marks = svg("g", { "clip-path": `url(#${clip})` });
    this.canvas.append(curves, this.marks);
    this.show(null);
  }

  // The path through the points, interrupted at missing values.
  path(xs, ys) {
    let [path, pen] = ["", "M"];
    ys.forEach((value, i) => {
      if (value === null) { pen = "M"; return; }
      path += pen + this.x(xs[i]).toFixed(1) + " " + this.y(value).toFixed(1);
      pen = "L";
    });
    return path;
  }

  drawSeries(curves, { x, y, min, max, colour, faint, dots }) {
    const xs = x[this.axis];
    if (min) {
      const known = xs.map((_, i) => i).filter((i) => min[i] !== null);
      const along = (list, values) => list.map((i) => this.x(xs[i]).toFixed(1) + " " + this.y(values[i]).toFixed(1)).join("L");
      if (known.length) curves.append(svg("path", { d: `M${along(known, max)}L${along([...known].reverse(), min)}Z`, fill: colour, "fill-opacity": 0.16 }));
    }
    curves.append(svg("path", { d: this.path(xs, y), fill: "none", stroke: colour, "stroke-width": faint ? 1 : 2, "stroke-opacity": faint ? 0.32 : 1, "stroke-linejoin": "round" }));
    if (dots && xs.length <= 60)
      xs.forEach((at, i) => { if (y[i] !== null) curves.append(svg("circle", { cx: this.x(at), cy: this.y(y[i]), r: 3, fill: colour })); });
  }

  point(event) {
    const frame = this.canvas.getBoundingClientRect();
    const share = (event.clientX - frame.left - this.area.left) / (this.area.right - this.area.left);
    this.link(Math.min(1, Math.max(0, share)) * this.last);
  }

  // Shows the values at the points nearest to x, or the last values when x is null.
  show(at) {
    this.marks.replaceChildren();
    for (const { series, value } of this.keys) {
      const xs = series.x[this.axis];
      let best = -1;
      xs.forEach((x, i) => {
        if (series.y[i] !== null && (best < 0 || at === null || Math.abs(x - at) <= Math.abs(xs[best] - at))) best = i;
      });
      if (best < 0) continue;
      value.textContent = formatValue(series.y[best]);
      if (at === null) continue;
      this.marks.append(svg("circle", { cx: this.x(xs[best]), cy: this.y(series.y[best]), r: 4, fill: series.colour }));
    }
    this.position.textContent = at === null ? "" : this.axis === "step" ? `step ${formatValue(Math.round(at))}` : formatTime(Math.round(at));
    if (at !== null)
      this.marks.prepend(svg("line", { class: "cross", x1: this.x(at), x2: this.x(at), y1: this.area.top, y2: this.area.bottom }));
  }
}
