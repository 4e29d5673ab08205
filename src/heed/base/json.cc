#include "heed/base/json.h"

#include <algorithm>

namespace heed {
namespace {

constexpr int kDeepest = 64;

/// The parser descends one level per bracket, so the text is looked at first.
void check_depth(std::string_view text, const std::string& file) {
  int depth = 0;
  bool inside_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside_string) {
      if (c == '\\') ++i;
      if (c == '"') inside_string = false;
      continue;
    }
    if (c == '"') inside_string = true;
    if (c == '[' || c == '{')
      require(++depth <= kDeepest, "{}: brackets nest deeper than {} levels", file, kDeepest);
    if (c == ']' || c == '}') --depth;
  }
}

/// What the parser says, without its own error numbers and the part of the file that it quotes.
std::string reason_of(const nlohmann::json::exception& error) {
  std::string_view text = error.what();
  const size_t begin = text.find("] ");
  if (begin != std::string_view::npos) text.remove_prefix(begin + 2);
  return one_line(text.substr(0, text.find("; last read")));
}

std::string cut(std::string text, size_t longest) {
  if (text.size() <= longest) return text;
  text.resize(longest);
  return text + "...";
}

/// Printable ASCII whatever the bytes are.
std::string dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& file) {
  check_depth(text, file);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: is not JSON: {}", file, reason_of(error));
  }
}

std::string excerpt(const nlohmann::json& value, size_t longest) {
  return cut(dump(value), longest);
}

std::string one_line(std::string_view text) {
  constexpr size_t kLongest = 200;
  const bool plain = text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](char c) {
                       return c >= ' ' && c <= '~';
                     });
  if (plain) return std::string(text);
  const std::string quoted = dump(std::string(text.substr(0, kLongest + 1)));
  return cut(quoted.substr(1, quoted.size() - 2), kLongest);
}

int64_t integer_of(const nlohmann::json& value, std::string_view key, const std::string& file,
                   int64_t least, int64_t greatest) {
  if (!value.is_number_integer())
    fail("{}: {} is {}, expected an integer", file, one_line(key), excerpt(value));
  const bool narrow = !value.is_number_unsigned() ||
                      value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
  const int64_t integer = narrow ? value.get<int64_t>() : 0;
  if (!narrow || integer < least || integer > greatest)
    fail("{}: {} is {}, expected {} to {}", file, one_line(key), excerpt(value), least, greatest);
  return integer;
}

}  // namespace heed
