#pragma once

#include <vector>

#include "heed/text/pre_tokenizers/pre_tokenizer.h"
#include "heed/text/utf8.h"

namespace heed::text {

/// A part of a text: a delimiter, or the text between two.
struct MarkedSpan {
  TextSpan span;
  bool delimiter = false;
};

/// The parts of a text of `size` bytes, given the spans of its delimiters.
std::vector<MarkedSpan> mark_all(const std::vector<TextSpan>& delimiters, size_t size);

/// The same, with each code point for which is_delimiter(value) is true as a delimiter.
template <typename Predicate>
std::vector<MarkedSpan> mark_code_points(const std::string& text, Predicate&& is_delimiter) {
  std::vector<TextSpan> delimiters;
  size_t position = 0;
  for_each_code_point(text, [&](const CodePoint& point, std::string_view) {
    if (is_delimiter(point.value)) delimiters.push_back({position, position + point.length});
    position += point.length;
  });
  return mark_all(delimiters, text.size());
}

/// Appends the parts of `text`; the spans cover it.
void split_text(const NormalizedText& text, const std::vector<MarkedSpan>& spans,
                SplitBehavior behavior, TextPieces& parts);

}  // namespace heed::text
