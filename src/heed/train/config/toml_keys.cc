#include "heed/train/config/toml_keys.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/reader_limits.h"

namespace heed::train {
namespace {

/// The position after the string whose opening quote is at `begin`. An unclosed string ends with
/// its line, or with the text if it is a multi-line string.
size_t after_string(std::string_view text, size_t begin) {
  const std::string_view quote = text.substr(begin, 1);
  const std::string three(3, quote[0]);
  const bool multi_line = text.substr(begin, 3) == three;
  const std::string_view end = multi_line ? std::string_view(three) : quote;
  for (size_t at = begin + end.size(); at < text.size(); ++at) {
    if (quote == "\"" && text[at] == '\\') {
      ++at;
      continue;
    }
    if (!multi_line && text[at] == '\n') return at;
    if (text.substr(at, end.size()) == end) return at + end.size();
  }
  return text.size();
}

}  // namespace

void check_toml_keys(std::string_view text, const std::string& file) {
  int parts = 1;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = after_string(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) parts = 1;
    if (c == '.')
      require(++parts <= limits::kMaxTomlKeyParts, "{}: a key has more than {} parts", file,
              limits::kMaxTomlKeyParts);
    ++at;
  }
}

}  // namespace heed::train
