// Documents as passages: what a search finds.

const PASSAGE_CHARACTERS = 800; // about 200 tokens of English

// Sentences of a paragraph that is too long, joined to passages; a sentence is never cut.
function* passagesOfSentences(paragraph) {
  let passage = "";
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(paragraph)) {
    if (passage && passage.length + segment.length > PASSAGE_CHARACTERS) {
      yield passage.trim();
      passage = "";
    }
    passage += segment;
  }
  if (passage.trim()) yield passage.trim();
}

// The passages of a text: paragraphs, of which short ones are joined and long ones divided. A heading stays with what
// follows it. A line that goes on in small letters was wrapped.
function passagesOf(text) {
  const passages = [];
  let passage = "";
  const end = () => {
    if (passage) passages.push(passage);
    passage = "";
  };
  const unwrapped = (paragraph) => paragraph.trim().replace(/\n(?=\p{Ll})/gu, " ");
  for (const paragraph of text.split(/\n\s*\n/).map(unwrapped).filter(Boolean)) {
    const heading = passage.startsWith("#") && !passage.includes("\n");
    if (!heading && passage.length + paragraph.length > PASSAGE_CHARACTERS) end();
    passage += (passage && "\n\n") + paragraph;
    if (passage.length <= PASSAGE_CHARACTERS) continue;
    passages.push(...passagesOfSentences(passage));
    passage = "";
  }
  end();
  return passages;
}

// To length 1, so that a dot product is the cosine.
function unitVector(vector) {
  const length = Math.hypot(...vector) || 1;
  return Float32Array.from(vector, (one) => one / length);
}

function dotProduct(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

// Where the tokens of a text stand in it: [begin, end] of each; null for those that are not found, such as special
// ones. `texts` are the tokens as a tokenizer has them, which may have lost capitals and accents.
function tokenSpans(text, texts) {
  const plain = (one) => one.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const letters = [...text].map(plain);
  const starts = [];
  let at = 0;
  for (const letter of text) {
    starts.push(at);
    at += letter.length;
  }
  starts.push(at);
  let from = 0;
  return texts.map((token) => {
    const wanted = [...plain(token.replace(/^##|^[▁Ġ]/, "")).trim()].join("");
    if (!wanted) return null;
    let begin = from, end = from, found = "";
    while (begin < letters.length && !letters[begin].trim()) begin++;
    for (end = begin; end < letters.length && found.length < wanted.length; end++) found += letters[end];
    if (found !== wanted) return null;
    from = end;
    return [starts[begin], starts[end]];
  });
}

const wordsOf = (text) => [...text.matchAll(/[\p{L}\p{N}]+/gu)];

// The words that many of the passages have, such as "the": they say little. None of a few passages.
function commonWords(passages) {
  const ENOUGH = 20, SHARE = 0.2;
  const counts = new Map();
  for (const { text } of passages)
    for (const word of new Set(wordsOf(text.toLowerCase()).map(String))) counts.set(word, (counts.get(word) || 0) + 1);
  const limit = passages.length < ENOUGH ? Infinity : SHARE * passages.length;
  return new Set([...counts].filter(([, count]) => count > limit).map(([word]) => word));
}

// The words of a passage that match a query, as [begin, end] of the text: those of whose tokens one is nearer to a
// token of the query than most are, without the `common` ones. `spans` are those of `passage`, the vectors of its
// tokens (MaxSim of ColBERT).
function matchedWords(text, spans, passage, query, common) {
  const scores = passage.map((vector) => Math.max(...query.map((one) => dotProduct(vector, one))));
  const known = scores.filter((_, i) => spans[i]);
  if (known.length < 4) return [];
  const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
  const spread = Math.sqrt(known.reduce((sum, one) => sum + (one - mean) ** 2, 0) / known.length);
  return wordsOf(text).filter(([word]) => !common.has(word.toLowerCase()))
    .map(({ 0: word, index }) => [index, index + word.length])
    .filter(([begin, end]) =>
      spans.some((span, i) => span && span[0] < end && span[1] > begin && scores[i] > mean + spread));
}
