// Long lines in pieces that a translator can read: it was trained on sentences, and its context is short.

const MAX_LINE = 240; // characters of a line that is translated as a whole
const MAX_PIECE = 400; // characters

// Cuts a text that is longer than a piece, behind a comma or a space if there is one.
function cut(text) {
  const pieces = [];
  while (text.length > MAX_PIECE) {
    const head = text.slice(0, MAX_PIECE);
    const at = [/^.*[,;:，；：、]\s*/s, /^.*\s/s].map((pattern) => head.match(pattern)?.[0].length || 0)
      .find((length) => length > MAX_PIECE / 3) || MAX_PIECE;
    pieces.push(text.slice(0, at));
    text = text.slice(at);
  }
  return [...pieces, text];
}

// [{text, begin}]: the sentences of a long line, or the line; `begin` is the offset of the text in the line.
function piecesOf(line) {
  if (line.length <= MAX_LINE) return line.trim() ? [{ text: line, begin: 0 }] : [];
  const sentences = [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(line)];
  let begin = 0;
  return sentences.flatMap(({ segment }) => cut(segment)).map((piece) => {
    const text = piece.trim();
    const at = begin + piece.length - piece.trimStart().length;
    begin += piece.length;
    return { text, begin: at };
  }).filter(({ text }) => text);
}

// What stands between two sentences of a language.
const gapOf = (tag) => (/^(?:zh|ja|th|lo|km|my|yue)\b/.test(tag) ? "" : " ");
