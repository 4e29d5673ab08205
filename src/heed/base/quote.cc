#include "heed/base/quote.h"

#include <nlohmann/json.hpp>

#include "heed/base/display.h"
#include "heed/base/json.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

bool is_shown(const CodePoint& point) {
  return point.valid && point.value != CodePoint::kReplacement && is_printable(point.value);
}

/// The inside of the JSON string of printable ASCII that stands for one character.
std::string escape_of(std::string_view character) {
  const std::string literal =
      dump_json(nlohmann::json(std::string(character)), {.ascii = true, .replace_invalid = true});
  return literal.substr(1, literal.size() - 2);
}

/// `text` cut after `longest` characters, the characters that cannot be shown and those of `others`
/// escaped; `quote` stands before and after it.
std::string escaped(std::string_view text, size_t longest, std::string_view others,
                    std::string_view quote) {
  // Escaping never shortens a text, so that many bytes have more characters than are wanted.
  const std::string_view beginning = text.substr(0, 4 * (longest + 1));
  std::string result(quote);
  size_t length = 0;
  bool whole = true;
  for_each_code_point(beginning, [&](const CodePoint& point, std::string_view bytes) {
    const bool plain = is_shown(point) && others.find(bytes) == std::string_view::npos;
    const std::string written = plain ? std::string(bytes) : escape_of(bytes);
    length += plain ? 1 : written.size();
    whole = whole && length <= longest;
    if (whole) result += written;
  });
  return result.append(quote).append(whole ? "" : "...");
}

}  // namespace

std::string Quoted::operator()(std::string_view text) const {
  return escaped(text, 80, "\"\\", "\"");
}

std::string one_line(std::string_view text) {
  constexpr size_t kLongest = 200;
  bool plain = text.size() <= kLongest;
  if (plain)
    for_each_code_point(text, [&](const CodePoint& point, auto) { plain &= is_shown(point); });
  // A plain text stands for itself: its quotes and backslashes are not escaped.
  return escaped(text, kLongest, plain ? "" : "\"\\", "");
}

std::string shown(std::string_view text, size_t longest) { return escaped(text, longest, "", ""); }

}  // namespace heed
