#include "heed/text/pre_tokenizers/split_text.h"

#include <algorithm>

namespace heed::text {
namespace {

/// Joins each delimiter with the part before it, unless that is a delimiter too.
std::vector<TextSpan> merged_with_previous(const std::vector<MarkedSpan>& spans) {
  std::vector<TextSpan> merged;
  bool after_delimiter = false;
  for (const MarkedSpan& part : spans) {
    if (part.delimiter && !after_delimiter && !merged.empty())
      merged.back().end = part.span.end;
    else
      merged.push_back(part.span);
    after_delimiter = part.delimiter;
  }
  return merged;
}

std::vector<TextSpan> merged_with_next(const std::vector<MarkedSpan>& spans) {
  std::vector<TextSpan> merged;
  bool before_delimiter = false;
  for (auto part = spans.rbegin(); part != spans.rend(); ++part) {
    if (part->delimiter && !before_delimiter && !merged.empty())
      merged.back().begin = part->span.begin;
    else
      merged.push_back(part->span);
    before_delimiter = part->delimiter;
  }
  std::reverse(merged.begin(), merged.end());
  return merged;
}

/// Joins delimiters that follow each other.
std::vector<TextSpan> contiguous(const std::vector<MarkedSpan>& spans) {
  std::vector<TextSpan> merged;
  bool last = false;
  for (const MarkedSpan& part : spans) {
    if (part.delimiter == last && !merged.empty())
      merged.back().end = part.span.end;
    else
      merged.push_back(part.span);
    last = part.delimiter;
  }
  return merged;
}

std::vector<TextSpan> separate(const std::vector<MarkedSpan>& spans, bool with_delimiters) {
  std::vector<TextSpan> kept;
  for (const MarkedSpan& part : spans)
    if (with_delimiters || !part.delimiter) kept.push_back(part.span);
  return kept;
}

std::vector<TextSpan> resolved(const std::vector<MarkedSpan>& spans, SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::merged_with_previous:
      return merged_with_previous(spans);
    case SplitBehavior::merged_with_next:
      return merged_with_next(spans);
    case SplitBehavior::contiguous:
      return contiguous(spans);
    default:
      return separate(spans, behavior == SplitBehavior::isolated);
  }
}

}  // namespace

std::vector<MarkedSpan> mark_all(const std::vector<TextSpan>& delimiters, size_t size) {
  std::vector<MarkedSpan> spans;
  spans.reserve(2 * delimiters.size() + 1);
  size_t position = 0;
  for (const TextSpan delimiter : delimiters) {
    if (position != delimiter.begin) spans.push_back({{position, delimiter.begin}, false});
    spans.push_back({delimiter, true});
    position = delimiter.end;
  }
  if (position != size) spans.push_back({{position, size}, false});
  return spans;
}

void split_text(const NormalizedText& text, const std::vector<MarkedSpan>& spans,
                SplitBehavior behavior, TextPieces& parts) {
  for (const TextSpan span : resolved(spans, behavior))
    if (span.begin != span.end) parts.push_back({part_of(text, span), std::nullopt});
}

}  // namespace heed::text
