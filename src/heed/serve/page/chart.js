// A line over time, with its highest value.

const CHART_COLUMNS = 120;

class Chart {
  // format(value): the value in words.
  constructor(title, format) {
    Object.assign(this, { title, format });
    this.now = make("b", "");
    this.peak = make("span", "note");
    this.picture = svg("svg", { viewBox: "0 0 240 64", preserveAspectRatio: "none", role: "img", class: "sparkline" });
    const ends = make("div", "ends note", (this.begin = make("span", "")), make("span", "", "now"));
    this.element = make("figure", "card chart", make("figcaption", "", make("span", "", title), this.now, this.peak),
      this.picture, ends);
  }

  // points: [{time, span, value}], where null is unknown, of the last `seconds`.
  show(points, seconds, name) {
    const end = Date.now() / 1000;
    const shown = points.filter(({ time, value }) => time > end - seconds && value !== null);
    const peak = Math.max(0, ...shown.map(({ value }) => value));
    this.now.textContent = shown.length ? this.format(shown.at(-1).value) : "–";
    this.peak.textContent = shown.length ? `peak ${this.format(peak)}` : "";
    this.begin.textContent = `${/^\d/.test(name) ? "" : "an "}${name} ago`;
    this.picture.setAttribute("aria-label", `${this.title}, the last ${name}: ${this.now.textContent}, ${this.peak.textContent}`);
    this.picture.replaceChildren(...this.paths(shown, end, seconds, peak || 1));
  }

  // Columns show the largest value in them. A line ends where nothing is known.
  paths(points, end, seconds, peak) {
    const columns = new Map();
    const columnOf = (time) => CHART_COLUMNS - Math.floor(((end - time) / seconds) * CHART_COLUMNS);
    for (const { time, span, value } of points) {
      const first = Math.max(0, columnOf(Math.min(time, time - span + seconds / CHART_COLUMNS)));
      for (let x = first; x <= columnOf(time); ++x) columns.set(x, Math.max(columns.get(x) ?? 0, value));
    }
    const lines = [];
    for (const x of [...columns.keys()].sort((a, b) => a - b)) {
      if (!columns.has(x - 1)) lines.push([]);
      lines.at(-1).push(`${(240 * x) / CHART_COLUMNS} ${(62 - (58 * columns.get(x)) / peak).toFixed(1)}`);
    }
    return lines.flatMap((line) => {
      const [from, to] = [line[0], line.at(-1)].map((point) => point.split(" ")[0]);
      return [svg("path", { class: "area", d: `M${from} 64L${line.join("L")}L${to} 64Z` }),
        svg("path", { class: "line", d: `M${line.length > 1 ? line.join("L") : `${line[0]}h1`}` })];
    });
  }
}
