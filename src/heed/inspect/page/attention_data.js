// Reads what attention_data() of heed wrote: a description in JSON and one packed block a head.

const KINDS = [
  {
    name: "encoder_self", label: "Encoder self-attention", query: "source", key: "source",
    sentence: "Every source token gathers from all source tokens, by weights that sum to 1.",
  },
  {
    name: "decoder_self", label: "Masked decoder self-attention", query: "target", key: "target",
    sentence: "Every target token gathers from itself and the target tokens before it, by weights that sum " +
      "to 1; later ones are hidden by the mask.",
  },
  {
    name: "cross", label: "Cross-attention", query: "target", key: "source",
    sentence: "Every step of the decoder, named after the target token that it reads, gathers from all " +
      "source tokens, by weights that sum to 1.",
  },
];

// What the kinds are called of an encoder or a decoder alone: there is only one text then.
const alone = (kind) => ({
  ...kind,
  label: kind.label.replace(/(encoder|decoder) self/i, "self").replace(/^s/, "S"),
  query: "text",
  key: "text",
  sentence: kind.sentence.replaceAll(/(source|target) token/g, "token"),
});

// The byte c stands for the weight (c / 255)².
const WEIGHTS = Float32Array.from({ length: 256 }, (_, c) => (c / 255) ** 2);
const codeOf = (weight) => Math.round(255 * Math.sqrt(weight));

// The bytes of one head, row by row: a byte other than 0 stands for itself, 0 is followed by the
// length of a run of zeros in base 128, lowest digit first.
function unpack(text, size) {
  const packed = atob(text);
  const codes = new Uint8Array(size);
  for (let from = 0, to = 0; from < packed.length;) {
    const code = packed.charCodeAt(from++);
    if (code !== 0) {
      codes[to++] = code;
      continue;
    }
    let run = 0;
    for (let shift = 1, digit = 128; digit >= 128; shift *= 128) {
      digit = packed.charCodeAt(from++);
      run += (digit & 127) * shift;
    }
    to += run;
  }
  return codes;
}

// A percentage with as many digits as the 8 bits of a weight carry.
function percent(weight) {
  const value = 100 * weight;
  if (value === 0) return "0 %";
  if (value < 0.1) return "<0.1 %";
  return (value < 9.95 ? value.toFixed(1) : value.toFixed(0)) + " %";
}

// One map: the codes of a chosen set of heads, decoded when first asked for.
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
  }

  codes(head) {
    if (!this.decoded.has(head)) {
      const block = this.element.querySelector(`script[data-map="${this.kind.name}/${this.layer}/${head}"]`);
      this.decoded.set(head, unpack(block.textContent, this.queries.length * this.keys.length));
    }
    return this.decoded.get(head);
  }

  // The mean over heads, as codes again.
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

  forget() {
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
    const kinds = both ? KINDS : KINDS.map(alone);
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

  // Maps that are not shown give their decoded weights back.
  map(kind, layer) {
    const chosen = this.maps.find((map) => map.kind === kind && map.layer === layer);
    for (const map of this.maps) if (map !== chosen) map.forget();
    return chosen;
  }

  // What decoder step `query` reads and is asked to predict.
  step(kind, query) {
    if (kind.name === "encoder_self") return null;
    return { reads: this.tokens.target[query], predicts: query + 1 < this.tokens.target.length ? this.tokens.target[query + 1] : null };
  }
}
