#include "heed/document/sentences/sentence_splitter.h"

#include "heed/document/sentences/sentence_end.h"

namespace heed::document {
namespace {

void split_line(const TextView& text, const LanguageRules& rules, ByteRange line,
                std::vector<ByteRange>& sentences) {
  const SentenceEnds ends(text, rules, line.end);
  size_t start = text.skip_spaces(line.begin, line.end);
  for (size_t at = start; at < line.end;) {
    const SentenceBreak kind = text.break_at(at);
    if (kind != SentenceBreak::full_stop && kind != SentenceBreak::terminator) {
      at = text.next(at);
      continue;
    }
    const PossibleEnd end = read_possible_end(text, at, line.end);
    at = end.end;
    if (!ends.ends(start, end)) continue;
    sentences.push_back({start, end.end});
    start = at = text.skip_spaces(at, line.end);
  }
  const size_t end = text.trim_spaces(start, line.end);
  if (end > start) sentences.push_back({start, end});
}

}  // namespace

std::vector<ByteRange> SentenceSplitter::split(std::string_view bytes) const {
  const TextView text(bytes);
  std::vector<ByteRange> sentences;
  size_t begin = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t next = text.next(at);
    if (text.break_at(at) == SentenceBreak::line_end) {
      split_line(text, rules_, {begin, at}, sentences);
      begin = next;
    }
    at = next;
  }
  split_line(text, rules_, {begin, bytes.size()}, sentences);
  return sentences;
}

}  // namespace heed::document
