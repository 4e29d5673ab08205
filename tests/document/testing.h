#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/ascii.h"
#include "heed/document/document.h"

namespace heed::document {

/// The words of a text, which are separated by spaces.
inline std::vector<ByteRange> words_of(const std::string& text) {
  std::vector<ByteRange> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (at < end) words.push_back({at, end});
    at = end + 1;
  }
  return words;
}

/// The words in the order of `places`: word i of the result is word places[i] of the segment.
inline TranslatedSegment reordered(const Segment& segment, const std::vector<size_t>& places) {
  const std::vector<ByteRange> words = words_of(segment.text);
  TranslatedSegment result;
  for (const size_t place : places) {
    const ByteRange from = words.at(place);
    if (!result.text.empty()) result.text += ' ';
    const size_t begin = result.text.size();
    result.text += segment.text.substr(from.begin, from.end - from.begin);
    result.alignment.push_back({from, {begin, result.text.size()}});
  }
  return result;
}

/// The words in reverse order.
inline TranslatedSegment reversed(const Segment& segment) {
  std::vector<size_t> places(words_of(segment.text).size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = places.size() - 1 - i;
  return reordered(segment, places);
}

/// The document with translate(segment) in place of each segment.
template <typename Translate>
std::string translated(const std::string& bytes, Format format, const Translate& translate,
                       const KeepOptions& keep = {}) {
  const Document document = Document::read(bytes, format, keep);
  std::vector<TranslatedSegment> segments;
  for (const Segment& segment : document.segments()) segments.push_back(translate(segment));
  return document.with(segments);
}

/// The document in capitals, with no alignment.
inline std::string in_capitals(const std::string& bytes, Format format) {
  return translated(bytes, format, [](const Segment& segment) {
    return TranslatedSegment{upper_case(segment.text), {}};
  });
}

inline std::vector<std::string> texts_of(const std::string& bytes, Format format) {
  std::vector<std::string> texts;
  const Document document = Document::read(bytes, format);
  for (const Segment& segment : document.segments()) texts.push_back(segment.text);
  return texts;
}

}  // namespace heed::document
