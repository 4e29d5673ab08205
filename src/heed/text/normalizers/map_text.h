#pragma once

#include <string>

#include "heed/text/normalizers/normalizer.h"
#include "heed/text/utf8.h"

namespace heed::text {

/// Replaces each code point by what `write(value, bytes, result)` appends for it.
template <typename Write>
void map_text(NormalizedText& text, Write&& write) {
  std::string result;
  result.reserve(text.text.size());
  size_t position = 0, at_start = 0;
  for_each_code_point(text.text, [&](const CodePoint& point, std::string_view bytes) {
    const bool of_start = position < text.at_start;
    write(point.value, bytes, result);
    position += bytes.size();
    if (of_start) at_start = result.size();
  });
  text = {std::move(result), at_start};
}

}  // namespace heed::text
