#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/jinja/values/text_tools.h"

namespace heed::jinja {
namespace {

/// The part of a text that the arguments start and end of a search select: bytes, and the code
/// point at which it begins.
struct Window {
  size_t begin, end;
  int64_t first;
  bool valid;  // start is not after end
};

Window window_of(Call& call, size_t start_parameter) {
  const Text& text = call.self.text();
  call.runtime.step_bytes(text.bytes.size());
  const auto length = static_cast<int64_t>(text.length);
  const auto bound = [&](size_t i, int64_t otherwise) {
    if (call.value(i).is_none()) return otherwise;
    const int64_t at = call.integer(i, otherwise);
    return at < 0 ? std::max<int64_t>(at + length, 0) : at;
  };
  const int64_t first = bound(start_parameter, 0);
  const int64_t last = std::min(bound(start_parameter + 1, length), length);
  const bool valid = first <= last;
  return {text.byte_of(static_cast<size_t>(first)),
          text.byte_of(static_cast<size_t>(std::max(first, last))), first, valid};
}

/// The index of the code point where `wanted` is found, or -1.
template <bool from_right>
int64_t search(Call& call) {
  const Text &text = call.self.text(), &wanted = call.text(0);
  const Window window = window_of(call, 1);
  if (!window.valid) return -1;
  const std::string_view part =
      std::string_view(text.bytes).substr(window.begin, window.end - window.begin);
  const size_t found = from_right ? part.rfind(wanted.bytes) : part.find(wanted.bytes);
  if (found == std::string_view::npos) return -1;
  int64_t index = window.first;
  for (size_t at = 0; at < found; at += code_point_at(part, at).length) ++index;
  return index;
}

template <bool from_right>
Value find(Call& call) {
  return Value(search<from_right>(call));
}
template <bool from_right>
Value index(Call& call) {
  const int64_t found = search<from_right>(call);
  if (found < 0) call.runtime.fail("substring not found");
  return Value(found);
}

Value count(Call& call) {
  const Text &text = call.self.text(), &wanted = call.text(0);
  const Window window = window_of(call, 1);
  if (!window.valid) return Value(int64_t{0});
  const std::string_view part =
      std::string_view(text.bytes).substr(window.begin, window.end - window.begin);
  if (wanted.bytes.empty()) return Value(static_cast<int64_t>(count_code_points(part)) + 1);
  int64_t found = 0;
  for (size_t at = part.find(wanted.bytes); at != std::string_view::npos;
       at = part.find(wanted.bytes, at + wanted.bytes.size()))
    ++found;
  return Value(found);
}

template <bool at_end>
Value borders(Call& call) {
  const Text& text = call.self.text();
  const Window window = window_of(call, 1);
  const std::string_view part =
      std::string_view(text.bytes).substr(window.begin, window.end - window.begin);
  const auto matches = [&](const Value& wanted) {
    if (!wanted.is_text())
      call.runtime.fail("a string or a tuple of strings is expected, not {}", type_name(wanted));
    const std::string& bytes = wanted.text().bytes;
    return window.valid && (at_end ? part.ends_with(bytes) : part.starts_with(bytes));
  };
  const Value& wanted = *call.values[0];
  if (!wanted.is_tuple()) return Value(matches(wanted));
  return Value(std::any_of(wanted.items().begin(), wanted.items().end(), matches));
}

constexpr Builtin kTextSearchMethods[] = {
    {"startswith", "/prefix start? end?", borders<false>},
    {"endswith", "/suffix start? end?", borders<true>},
    {"find", "/sub start? end?", find<false>},
    {"rfind", "/sub start? end?", find<true>},
    {"index", "/sub start? end?", index<false>},
    {"rindex", "/sub start? end?", index<true>},
    {"count", "/sub start? end?", count},
};

}  // namespace

Builtins text_search_methods() { return kTextSearchMethods; }

}  // namespace heed::jinja
