#include "heed/document/sentences/sentence_splitter.h"

#include "heed/document/sentences/list_items.h"
#include "heed/document/sentences/sentence_end.h"

namespace heed::document {
namespace {

/// Whether a title in 《 》 that begins at `position` ends in the line; then `end` is behind it.
bool skip_title(const TextView& text, size_t position, size_t line_end, size_t& end) {
  constexpr char32_t kOpening = 0x300A, kClosing = 0x300B;
  constexpr int kLongest = 60;  // code points
  if (text.at(position) != kOpening) return false;
  size_t at = position;
  for (int i = 0; i < kLongest && at < line_end; ++i) {
    const bool closes = text.at(at) == kClosing;
    at = text.next(at);
    if (!closes) continue;
    end = at;
    return true;
  }
  return false;
}

void split_line(const TextView& text, const LanguageRules& rules, ByteRange line,
                std::vector<ByteRange>& sentences) {
  const SentenceEnds ends(text, rules, line.end);
  ListItems items(text, line.end, rules.has_ordinals());
  size_t start = text.skip_spaces(line.begin, line.end);
  size_t at = items.begin_sentence(start);
  const auto end_sentence = [&](size_t end) {
    sentences.push_back({start, text.trim_spaces(start, end)});
    start = text.skip_spaces(end, line.end);
    at = items.begin_sentence(start);
  };
  while (at < line.end) {
    const SentenceBreak kind = text.break_at(at);
    if (kind == SentenceBreak::space) {
      at = text.skip_spaces(at, line.end);
      if (items.is_next_item(at)) end_sentence(at);
    } else if (kind == SentenceBreak::full_stop || kind == SentenceBreak::terminator) {
      const PossibleEnd end = read_possible_end(text, at, line.end);
      at = end.end;
      if (ends.ends(start, end)) end_sentence(at);
    } else if (size_t behind = at; ends.learned_mark_ends(at, behind)) {
      end_sentence(behind);
    } else if (!skip_title(text, at, line.end, at)) {
      at = text.next(at);
    }
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
