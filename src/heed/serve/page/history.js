// What the server has done in the last hour. Its own history (GET /v1/history) where it keeps one, and what this page
// has seen of its metrics.

const HOUR = 3600;

// A point is {time, span, tokens, active, errors, refused, first, memory}: what ended at `time` (seconds since 1970)
// after `span` seconds. tokens: generated in a second; active, errors, refused: requests; first: the seconds to the
// first token of the median answer, or null; memory: bytes, or 0 if it is not known.
class History {
  constructor(server) {
    this.server = server;
    this.points = [];
    this.isKept = true; // by the server; until it says that it does not
  }

  // Adds what was between two readings of the metrics.
  add(before, after) {
    const since = (name, labels) => after.sum(name, labels) - before.sum(name, labels);
    const span = after.time - before.time;
    const tokens = after.tokens() - before.tokens();
    if (tokens < 0) return; // it was started again
    this.merge([{
      time: after.time, span, tokens: tokens / span,
      active: after.sum("heed_running_requests") + after.sum("heed_queued_requests"),
      errors: after.errors() - before.errors(),
      refused: after.refused() - before.refused(),
      first: median(after.buckets("heed_time_to_first_token_seconds"), before.buckets("heed_time_to_first_token_seconds")),
      memory: after.memory(),
    }]);
  }

  // Reads the server's own. A server without one is not asked again.
  async read(signal) {
    if (!this.isKept) return;
    const response = await this.server.send("v1/history", undefined, signal);
    if (response?.status === 404) this.isKept = false;
    if (!response?.ok) return;
    const { interval_seconds: span, time = [], ...lists } = await response.json();
    this.merge(time.map((end, i) => ({
      time: end, span, tokens: lists.output_tokens[i] / span,
      active: lists.running_requests[i] + lists.queued_requests[i],
      errors: lists.errors[i], refused: lists.refused[i],
      first: lists.first_token_seconds_p50[i], memory: lists.memory_bytes[i],
    })));
  }

  // Adds points where there are none that are finer.
  merge(points) {
    const isFiner = (one, other) => one.span <= other.span && one.time > other.time - other.span && one.time <= other.time;
    const fresh = points.filter((point) => !this.points.some((old) => isFiner(old, point)));
    const old = this.points.filter((point) => !fresh.some((one) => isFiner(one, point)));
    const begin = Date.now() / 1000 - HOUR;
    this.points = [...old, ...fresh].filter(({ time }) => time > begin).sort((a, b) => a.time - b.time);
  }
}

// The median of what histograms, as [[bound, count up to it]], have counted more than before; null: nothing.
function median(after, before) {
  const counts = after.map(([bound, count], i) => [bound, count - (before[i]?.[1] || 0)]);
  const total = counts.at(-1)?.[1] || 0;
  if (total <= 0) return null;
  const at = counts.findIndex(([, count]) => count >= total / 2);
  const [low, below] = at ? counts[at - 1] : [0, 0];
  const [high, count] = counts[at];
  return Number.isFinite(high) ? low + ((high - low) * (total / 2 - below)) / (count - below) : low;
}
