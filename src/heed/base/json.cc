#include "heed/base/json.h"

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

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& file) {
  check_depth(text, file);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: is not JSON: {}", file, error.what());
  }
}

namespace detail {

std::string excerpt(const nlohmann::json& found) {
  constexpr size_t kLongest = 60;
  const std::string text = found.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

int64_t integer_of(const nlohmann::json& value, std::string_view key, const std::string& file,
                   int64_t least, int64_t greatest) {
  require(value.is_number_integer(), "{}: {} is {}, expected an integer", file, key,
          excerpt(value));
  const bool fits = value.is_number_unsigned()
                        ? value.get<uint64_t>() <= static_cast<uint64_t>(greatest)
                        : value.get<int64_t>() >= least && value.get<int64_t>() <= greatest;
  require(fits, "{}: {} is {}, expected {} to {}", file, key, excerpt(value), least, greatest);
  return value.get<int64_t>();
}

}  // namespace detail
}  // namespace heed
