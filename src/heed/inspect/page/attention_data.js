// Decodes the output of heed's attention_element(): a description in JSON and one encoded block per head.

const KINDS = [
  {
    name: "encoder_self", label: "Encoder self-attention", query: "source", key: "source",
    sentence: "Each source token (query) attends to all source tokens (keys). The weights of a query sum to 1.",
  },
  {
    name: "decoder_self", label: "Masked decoder self-attention", query: "target", key: "target",
    sentence: "Each target token (query) attends to itself and to earlier target tokens (keys); later tokens are " +
      "masked. The weights of a query sum to 1.",
  },
  {
    name: "cross", label: "Cross-attention", query: "target", key: "source",
    sentence: "Each decoder step (query), labelled with the target token that it reads, attends to all source " +
      "tokens (keys). The weights of a query sum to 1.",
  },
];

// The wording for encoder-only and decoder-only models, which read a single text.
const singleText = (kind) => ({
  ...kind,
  label: kind.label.replace(/(encoder|decoder) self/i, "self").replace(/^s/, "S"),
  query: "text",
  key: "text",
  sentence: kind.sentence.replaceAll(/(source|target) token/g, "token"),
});

// The weight of each code c: (c / 255)².
const WEIGHTS = Float32Array.from({ length: 256 }, (_, c) => (c / 255) ** 2);
const codeOf = (weight) => Math.round(255 * Math.sqrt(weight));

// Decodes the codes of one head (weight_encoding.h): a byte other than 0 is a code, and 0 is followed by
// the length of a run of zeros in base 128, least significant digit first.
function unpack(text, size) {
  const encoded = atob(text);
  const codes = new Uint8Array(size);
  for (let from = 0, to = 0; from < encoded.length;) {
    const code = encoded.charCodeAt(from++);
    if (code !== 0) {
      codes[to++] = code;
      continue;
    }
    let run = 0;
    for (let shift = 1, digit = 128; digit >= 128; shift *= 128) {
      digit = encoded.charCodeAt(from++);
      run += (digit & 127) * shift;
    }
    to += run;
  }
  return codes;
}

// A percentage with as many digits as an 8-bit code provides.
function percent(weight) {
  const value = 100 * weight;
  if (value === 0) return "0 %";
  if (value < 0.1) return "<0.1 %";
  return (value < 9.95 ? value.toFixed(1) : value.toFixed(0)) + " %";
}

// Tokens that only mark a place, such as </s>, [CLS] and the code of a language.
const isMark = (token) => /^(?:<.*>|\[[A-Z]+\]|__\w+__|[a-z]{3}_[A-Z][a-z]{3})$/.test(token);
const SINK_SHARE = 0.25; // of the attention, at least, that rests on a sink at the end of a text
const MAX_SCORED_WEIGHTS = 4e6; // of all layers; beyond, a layer is chosen without looking at them

// The weights of one kind and layer. Heads are decoded on first use and cached.
class AttentionMap {
  constructor(element, description, tokens, kinds) {
    this.element = element;
    this.kind = kinds.find((kind) => kind.name === description.kind);
    this.layer = description.layer;
    this.heads = description.heads;
    this.queries = tokens[this.kind.query];
    this.keys = tokens[this.kind.key];
    this.decoded = new Map();
    this.mean = { heads: "", codes: null };
    this.hidden = new Set(); // keys whose weights are shown as 0
  }

  // The keys that heads look at when they look for nothing: marks, the first token of a decoder, and the ends of a
  // text if much of the attention rests there (Xiao et al. 2023, arXiv 2309.17453).
  sinks() {
    this.hide(new Set());
    const { queries, keys } = this;
    const all = [...Array(this.heads).keys()];
    const codes = this.meanCodes(all);
    const share = (key) => queries.reduce((sum, _, q) => sum + WEIGHTS[codes[q * keys.length + key]], 0) / queries.length;
    const least = Math.max(SINK_SHARE, 2 / keys.length);
    return new Set([...keys.keys()].filter((key) => isMark(keys[key]) || (key === 0 && this.kind.name === "decoder_self")
      || ((key === 0 || key === keys.length - 1) && share(key) >= least)));
  }

  hide(keys) {
    if ([...keys].join() === [...this.hidden].join()) return;
    this.hidden = keys;
    this.clearCache();
  }

  // How much there is to be seen: for each key that is the first choice of a query, its largest weight. A token beside
  // the query does not count.
  reach() {
    const { queries, keys } = this;
    this.hide(this.sinks());
    const codes = this.meanCodes([...Array(this.heads).keys()]);
    const isNear = (q, k) => this.kind.name !== "cross" && Math.abs(q - k) < 2;
    const chosen = new Map(); // the largest code by key
    queries.forEach((_, q) => {
      let [best, most] = [-1, 0];
      for (let k = 0; k < keys.length; ++k)
        if (!isNear(q, k) && codes[q * keys.length + k] > most) [best, most] = [k, codes[q * keys.length + k]];
      if (best >= 0) chosen.set(best, Math.max(most, chosen.get(best) || 0));
    });
    return [...chosen.values()].reduce((sum, code) => sum + WEIGHTS[code], 0);
  }

  codes(head) {
    if (!this.decoded.has(head)) {
      const name = `${this.kind.name}/${this.layer}/${head}`;
      const block = this.element.querySelector(`script[data-map="${name}"]`);
      const codes = unpack(block.textContent, this.queries.length * this.keys.length);
      for (const key of this.hidden) for (let at = key; at < codes.length; at += this.keys.length) codes[at] = 0;
      this.decoded.set(head, codes);
    }
    return this.decoded.get(head);
  }

  // The codes of the mean over `heads`.
  meanCodes(heads) {
    if (heads.length === 1) return this.codes(heads[0]);
    if (this.mean.heads !== heads.join()) {
      const sums = new Float32Array(this.queries.length * this.keys.length);
      for (const head of heads) {
        const codes = this.codes(head);
        for (let i = 0; i < sums.length; ++i) sums[i] += WEIGHTS[codes[i]];
      }
      this.mean = { heads: heads.join(), codes: Uint8Array.from(sums, (sum) => codeOf(sum / heads.length)) };
    }
    return this.mean.codes;
  }

  clearCache() {
    this.decoded.clear();
    this.mean = { heads: "", codes: null };
  }
}

// All maps of one capture.
class AttentionCapture {
  constructor(element) {
    const description = JSON.parse(element.querySelector("script.capture").textContent);
    const { source, target } = description;
    const both = source.length > 0 && target.length > 0;
    const kinds = both ? KINDS : KINDS.map(singleText);
    const tokens = { source, target, text: target.length > 0 ? target : source };
    this.colours = description.colours;
    this.floor = WEIGHTS[description.floor];
    this.dropped = description.floor > 1;
    this.missing = description.missing;
    this.maps = description.maps.map((map) => new AttentionMap(element, map, tokens, kinds));
    this.kinds = kinds.filter((kind) => this.maps.some((map) => map.kind === kind));
    this.tokens = tokens;
  }

  layers(kind) {
    return this.maps.filter((map) => map.kind === kind).map((map) => map.layer).sort((a, b) => a - b);
  }

  // The layer of a kind in which most is to be seen.
  bestLayer(kind) {
    const maps = this.maps.filter((map) => map.kind === kind);
    const weights = maps.reduce((sum, map) => sum + map.heads * map.queries.length * map.keys.length, 0);
    if (weights > MAX_SCORED_WEIGHTS || weights === 0) return maps[Math.floor(maps.length / 2)].layer;
    const scores = maps.map((map) => {
      const score = map.reach();
      map.clearCache();
      return score;
    });
    return maps[scores.indexOf(Math.max(...scores))].layer;
  }

  // The map of a kind and layer. The caches of the other maps are cleared.
  map(kind, layer) {
    const selected = this.maps.find((map) => map.kind === kind && map.layer === layer);
    for (const map of this.maps) if (map !== selected) map.clearCache();
    return selected;
  }

  // The input token and the next target token of decoder step `query`; null for the encoder.
  step(kind, query) {
    if (kind.name === "encoder_self") return null;
    const { target } = this.tokens;
    return { input: target[query], next: query + 1 < target.length ? target[query + 1] : null };
  }
}
