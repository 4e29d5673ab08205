#pragma once

#include <string>

#include "heed/text/normalizers/normalizer.h"
#include "heed/text/utf8.h"

namespace heed::text {

/// Replaces each code point by what `write(value, bytes, result)` appends for it.
template <typename Write>
void map_text(NormalizedText& text, Write&& write) {
  NormalizedText result;
  result.text.reserve(text.text.size());
  size_t position = 0;
  for_each_code_point(text.text, [&](const CodePoint& point, std::string_view bytes) {
    write(point.value, bytes, result.text);
    take_alignment(text, position, result);
    if (position < text.at_start) result.at_start = result.text.size();
    position += bytes.size();
  });
  text = std::move(result);
}

}  // namespace heed::text
