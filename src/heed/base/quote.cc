#include "heed/base/quote.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/json.h"

namespace heed {
namespace {

/// The inside of a JSON string of printable ASCII that stands for `text`.
std::string escaped(std::string_view text) {
  const std::string literal =
      dump_json(nlohmann::json(std::string(text)), {.ascii = true, .replace_invalid = true});
  return literal.substr(1, literal.size() - 2);
}

/// Length of the longest beginning of `escaped` of at most `longest` characters that does not end
/// inside \n, \" or \u0000.
size_t cut_position(std::string_view escaped, size_t longest) {
  size_t end = 0;
  while (end < escaped.size()) {
    const bool is_escape = escaped[end] == '\\';
    const size_t length = !is_escape ? 1 : escaped[end + 1] == 'u' ? 6 : 2;
    if (end + length > longest) break;
    end += length;
  }
  return end;
}

/// Between two `quote`s: `text` escaped and cut after `longest` characters.
std::string escaped_and_cut(std::string_view text, size_t longest, std::string_view quote) {
  // Escaping never shortens a text, so its first `longest` bytes suffice. The 4 extra bytes
  // complete a code point at their end, which would otherwise be escaped as invalid UTF-8.
  const std::string whole = escaped(text.substr(0, longest + 4));
  const size_t end = cut_position(whole, longest);
  const std::string_view dots = end < whole.size() ? "..." : "";
  std::string result(quote);
  return result.append(whole, 0, end).append(quote).append(dots);
}

}  // namespace

std::string Quoted::operator()(std::string_view text) const {
  return escaped_and_cut(text, 80, "\"");
}

std::string one_line(std::string_view text) {
  constexpr size_t kLongest = 200;
  const bool plain = text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](char c) {
                       return c >= ' ' && c <= '~';
                     });
  // A plain text stands for itself: its quotes and backslashes are not escaped.
  return plain ? std::string(text) : escaped_and_cut(text, kLongest, "");
}

}  // namespace heed
