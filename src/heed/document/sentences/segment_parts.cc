#include "heed/document/sentences/segment_parts.h"

#include <algorithm>

#include "heed/document/sentences/clauses.h"
#include "heed/document/sentences/sentence_break.h"

namespace heed::document {
namespace {

/// Joins parts between which there is a byte of a range.
void join_inside(std::vector<ByteRange>& parts, std::span<const ByteRange> ranges) {
  std::vector<ByteRange> joined;
  size_t range = 0;
  for (const ByteRange& part : parts) {
    while (range < ranges.size() && ranges[range].end <= part.begin) ++range;
    const bool inside = !joined.empty() && range < ranges.size() &&
                        ranges[range].begin < joined.back().end &&
                        ranges[range].end > joined.back().end;
    if (inside)
      joined.back().end = part.end;
    else
      joined.push_back(part);
  }
  parts = std::move(joined);
}

/// Whether a character is written without spaces beside it: of Chinese or Japanese, full-width.
bool is_unspaced(char32_t value) {
  constexpr char32_t kHalfWidthHangul = 0xFFA0;
  const bool punctuation = value >= 0x3000 && value <= 0x303F;
  const bool full_width = value >= 0xFF01 && value < kHalfWidthHangul;
  return punctuation || full_width || is_ideographic(value);
}

}  // namespace

std::vector<ByteRange> parts_of(const Segment& segment, const SentenceSplitter& splitter,
                                const std::function<bool(std::string_view part)>& fits) {
  std::vector<ByteRange> sentences = splitter.split(segment.text);
  join_inside(sentences, segment.kept);
  std::vector<ByteRange> parts;
  for (const ByteRange& sentence : sentences)
    for (const ByteRange& part : cut_at_clauses(segment.text, sentence, fits))
      parts.push_back(part);
  join_inside(parts, segment.kept);
  return parts;
}

TranslatedSegment join_parts(std::string_view text, std::span<const ByteRange> parts,
                             std::span<const TranslatedSegment> translated) {
  TranslatedSegment joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string& own = translated[i].text;
    if (own.empty()) continue;
    if (!joined.text.empty()) {
      const TextView left(joined.text), right(own);
      const std::string_view between =
          text.substr(parts[i - 1].end, parts[i].begin - parts[i - 1].end);
      if (!is_unspaced(left.at(left.previous(left.size()))) && !is_unspaced(right.at(0)))
        joined.text += between.empty() ? std::string_view(" ") : between;
    }
    for (const auto& [source, target] : translated[i].alignment) {
      const size_t from = parts[i].begin, to = joined.text.size();
      joined.alignment.push_back(
          {{from + source.begin, from + source.end}, {to + target.begin, to + target.end}});
    }
    joined.text += own;
  }
  return joined;
}

std::vector<ByteRange> words_between_spaces(std::string_view bytes) {
  const TextView text(bytes);
  std::vector<ByteRange> words;
  const auto is_space = [&](size_t at) {
    const SentenceBreak kind = text.break_at(at);
    return kind == SentenceBreak::space || kind == SentenceBreak::line_end;
  };
  bool open = false;
  for (size_t at = 0; at < bytes.size(); at = text.next(at)) {
    if (is_space(at)) {
      open = false;
    } else if (open) {
      words.back().end = text.next(at);
    } else {
      words.push_back({at, text.next(at)});
      open = true;
    }
  }
  return words;
}

}  // namespace heed::document
