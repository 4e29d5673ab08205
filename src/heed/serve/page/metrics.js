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
    this.time = Date.now() / 1000;
  }

  // Those of this name and these labels.
  find(name, labels = {}) {
    const wanted = Object.entries(labels);
    return this.all.filter((one) => one.name === name && wanted.every(([key, value]) => one.labels[key] === value));
  }

  sum(name, labels) { return this.find(name, labels).reduce((sum, { value }) => sum + value, 0); }

  // Tokens generated so far, by a model or by all. Those of a request are counted when it ends, its pauses between
  // tokens at once.
  tokens(model) {
    const own = this.all.filter(({ labels }) => labels.route && labels.model && (!model || labels.model === model));
    const kinds = new Map(own.map(({ labels: { model: name, route } }) => [`${name} ${route}`, { model: name, route }]));
    return [...kinds.values()].reduce((sum, labels) => sum + Math.max(this.sum("heed_output_tokens_total", labels),
      this.sum("heed_inter_token_seconds_count", labels)), 0);
  }

  // Requests that failed in the server, and those that it refused. A client that left (499) is neither.
  errors() { return this.answers((status) => status >= 500); }
  refused() { return this.answers((status) => status >= 400 && status < 499); }
  answers(wanted) {
    return this.find("heed_requests_total").filter(({ labels: { status } }) => wanted(status))
      .reduce((sum, { value }) => sum + value, 0);
  }

  // Of the process and of its GPUs, in bytes; 0 if the server does not say.
  memory() { return this.sum("process_resident_memory_bytes") + this.sum("heed_gpu_allocated_bytes"); }

  // [[bound, count up to it]] of a histogram over all models and routes.
  buckets(name) {
    const counts = new Map();
    for (const { labels: { le }, value } of this.find(name + "_bucket")) {
      const bound = le === "+Inf" ? Infinity : Number(le);
      counts.set(bound, (counts.get(bound) || 0) + value);
    }
    return [...counts].sort((a, b) => a[0] - b[0]);
  }
}
