// The server's metrics, in Prometheus' text format.

// [{name, labels, value}] of Prometheus' text format.
function parseMetrics(text) {
  const unescape = (value) => value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
  return text.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => {
    const [, name, labels = "", value] = line.match(/^(\w+)(?:\{(.*)\})? (\S+)$/);
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, unescape(text)]);
    return { name, labels: Object.fromEntries(pairs), value: Number(value) };
  });
}

class Metrics {
  constructor(text) {
    this.all = parseMetrics(text);
    this.time = performance.now() / 1000;
  }

  // The sum over all metrics of this name and these labels.
  sum(name, labels = {}) {
    const wanted = Object.entries(labels);
    return this.all.filter((one) => one.name === name && wanted.every(([key, value]) => one.labels[key] === value))
      .reduce((sum, { value }) => sum + value, 0);
  }

  // Tokens generated so far. Those of a request are counted when it ends, its pauses between tokens at once.
  tokens(model) {
    const own = this.all.filter(({ labels }) => labels.model === model && labels.route);
    const routes = new Set(own.map(({ labels }) => labels.route));
    return [...routes].reduce((sum, route) => sum + Math.max(this.sum("heed_output_tokens_total", { model, route }),
      this.sum("heed_inter_token_seconds_count", { model, route })), 0);
  }
}
