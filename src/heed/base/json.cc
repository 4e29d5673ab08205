#include "heed/base/json.h"

#include "heed/base/reader_limits.h"

namespace heed {
namespace {

/// The parser recurses once per bracket, so the depth is checked before parsing.
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
      require(++depth <= limits::kMaxJsonDepth, "{}: brackets nest deeper than {} levels", file,
              limits::kMaxJsonDepth);
    if (c == ']' || c == '}') --depth;
  }
}

/// The parser's message without its error number and its excerpt of the file.
std::string reason_of(const nlohmann::json::exception& error) {
  std::string_view text = error.what();
  const size_t begin = text.find("] ");
  if (begin != std::string_view::npos) text.remove_prefix(begin + 2);
  return one_line(text.substr(0, text.find("; last read")));
}

std::string cut(std::string text, size_t max_length) {
  if (text.size() <= max_length) return text;
  text.resize(max_length);
  return text + "...";
}

/// Always printable ASCII: other characters are escaped, invalid UTF-8 is replaced.
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

std::string excerpt(const nlohmann::json& value, size_t max_length) {
  return cut(dump(value), max_length);
}

int64_t integer_of(const nlohmann::json& value, std::string_view key, const std::string& file,
                   int64_t min, int64_t max) {
  if (!value.is_number_integer())
    fail("{}: {} is {}, expected an integer", file, one_line(key), excerpt(value));
  const bool fits = !value.is_number_unsigned() ||
                    value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
  const int64_t integer = fits ? value.get<int64_t>() : 0;
  if (!fits || integer < min || integer > max)
    fail("{}: {} is {}, expected {} to {}", file, one_line(key), excerpt(value), min, max);
  return integer;
}

}  // namespace heed
