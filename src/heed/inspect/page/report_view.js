// The curves of a training run, and the attention of its samples when their section is opened.

const anyKnown = (values) => values.some((value) => value !== null);

function chartsOf({ steps, validations }) {
  const [blue, orange, green, violet] = isDark() ? ["#7fb0ff", "#f29a5e", "#5cc98f", "#b59cf0"] : ["#1f62c9", "#d8641b", "#1d8a53", "#7d54d1"];
  const radius = Math.max(1, Math.round(steps.step.length / 60));
  const noisy = (name, key, colour, range) => {
    const list = [];
    const known = steps[key];
    if (!anyKnown(known)) return list;
    list.push({ colour, x: steps, y: known, min: range && steps[key + "_min"], max: range && steps[key + "_max"], faint: true, noisy: true });
    list.push({ name, colour, x: steps, y: smoothed(known, radius) });
    return list;
  };
  const exact = (name, key, colour) => (anyKnown(steps[key]) ? [{ name, colour, x: steps, y: steps[key] }] : []);
  const validated = (name, key, colour) => (anyKnown(validations[key]) ? [{ name, colour, x: validations, y: validations[key], dots: true }] : []);
  return [
    { title: "Loss", series: [...noisy("training, smoothed", "loss", blue, true), ...validated("validation", "loss", orange)] },
    { title: "BLEU and chrF", series: [...validated("BLEU", "bleu", green), ...validated("chrF", "chrf", violet)], zero: true },
    { title: "Metric of the best model", series: validated("validation", "metric", green), zero: true },
    { title: "Perplexity", series: validated("validation", "perplexity", orange), log: true },
    { title: "Learning rate", series: exact("value", "learning_rate", blue), zero: true },
    { title: "Gradient norm", series: noisy("smoothed", "gradient_norm", blue, true), log: true },
    { title: "Tokens per second", series: noisy("smoothed", "tokens_per_second", blue, false), zero: true },
  ].filter((chart) => chart.series.length > 0);
}

function drawCurves() {
  const data = JSON.parse(document.getElementById("series").textContent);
  const host = document.getElementById("curves");
  let axis = "step";
  const grid = make("div", "charts");
  const tools = make("div", "tools", "Horizontal axis");
  const buttons = [["step", "steps"], ["seconds", "time"]].map(([value, label]) => {
    const button = make("button", "", label);
    button.type = "button";
    button.addEventListener("click", () => { axis = value; draw(); });
    tools.append(button);
    return { value, button };
  });
  let charts = [];
  const build = () => {
    grid.replaceChildren();
    const link = (at) => charts.forEach((chart) => chart.show(at));
    charts = chartsOf(data).map((options) => new Chart(grid, { ...options, link }));
    draw();
  };
  const draw = () => {
    for (const { value, button } of buttons) button.setAttribute("aria-pressed", String(value === axis));
    charts.forEach((chart) => chart.draw(axis));
  };
  if (!chartsOf(data).length) return;
  host.append(tools, grid);
  build();
  onThemeChange(build);
  let width = host.clientWidth;
  new ResizeObserver(() => {
    if (host.clientWidth === width) return;
    width = host.clientWidth;
    draw();
  }).observe(host);
}

for (const details of document.querySelectorAll(".sample details"))
  details.addEventListener("toggle", () => {
    const element = details.querySelector("div.attention");
    if (details.open && !element.querySelector(".bar")) new AttentionView(element);
  });
drawCurves();
