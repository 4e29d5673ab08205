// The curves of a training run, and the attention of its samples once it is asked for.

const some = (values) => values.some((value) => value !== null);

function chartsOf({ steps, validations }) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const [blue, orange, green, violet] = dark ? ["#7fb0ff", "#f29a5e", "#5cc98f", "#b59cf0"] : ["#1f62c9", "#d8641b", "#1d8a53", "#7d54d1"];
  const reach = Math.max(1, Math.round(steps.step.length / 60));
  const train = (name, key, colour, spread) => {
    const list = [];
    const known = steps[key];
    if (!some(known)) return list;
    list.push({ colour, x: steps, y: known, low: spread && steps[key + "_low"], high: spread && steps[key + "_high"], faint: true, noisy: true });
    list.push({ name, colour, x: steps, y: smoothed(known, reach) });
    return list;
  };
  const exact = (name, key, colour) => (some(steps[key]) ? [{ name, colour, x: steps, y: steps[key] }] : []);
  const found = (name, key, colour) => (some(validations[key]) ? [{ name, colour, x: validations, y: validations[key], dots: true }] : []);
  return [
    { title: "Loss", series: [...train("training, smoothed", "loss", blue, true), ...found("validation", "loss", orange)] },
    { title: "BLEU and chrF", series: [...found("BLEU", "bleu", green), ...found("chrF", "chrf", violet)], zero: true },
    { title: "Perplexity", series: found("validation", "perplexity", orange), log: true },
    { title: "Learning rate", series: exact("now", "learning_rate", blue), zero: true },
    { title: "Gradient norm", series: train("smoothed", "gradient_norm", blue, true), log: true },
    { title: "Tokens per second", series: train("smoothed", "tokens_per_second", blue, false), zero: true },
  ].filter((chart) => chart.series.length > 0);
}

function drawCurves() {
  const data = JSON.parse(document.getElementById("series").textContent);
  const host = document.getElementById("curves");
  let axis = "step";
  const grid = make("div", "charts");
  const tools = make("div", "tools", "Along");
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
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build);
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
