#include <algorithm>

#include "heed/jinja/builtins/format.h"
#include "heed/jinja/values/case.h"
#include "heed/jinja/values/text_tools.h"
#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

template <void (*append)(TextBuilder&, const Text&)>
Value mapped(Call& call) {
  const Text& text = call.self.text();
  call.runtime.step_characters(text.bytes.size());
  return built(call.runtime, text, [&](TextBuilder& out) { append(out, text); });
}

/// Argument i, or nullptr if it is not given or none.
const Text* optional_text(const Call& call, size_t i) {
  return call.value(i).is_none() ? nullptr : &call.text(i);
}

template <bool left, bool right>
Value strip(Call& call) {
  const Text& text = call.self.text();
  call.runtime.step_bytes(text.bytes.size());
  const Span span = stripped(text, optional_text(call, 0), left, right);
  return call.runtime.slice(text, span.begin, span.end);
}

Value split_text(Call& call) {
  return split(call.runtime, call.self.text(), optional_text(call, 0), call.integer(1, -1));
}
Value rsplit(Call& call) {
  return split_right(call.runtime, call.self.text(), optional_text(call, 0), call.integer(1, -1));
}

Value splitlines(Call& call) {
  const Text& text = call.self.text();
  call.runtime.step_characters(text.bytes.size());
  std::vector<Value> lines;
  for (const Span& line : lines_of(text, call.flag(0, false)))
    lines.push_back(call.runtime.slice(text, line.begin, line.end));
  return call.runtime.list(std::move(lines));
}

template <bool from_right>
Value partition(Call& call) {
  const Text &text = call.self.text(), &separator = call.text(0);
  if (separator.bytes.empty()) call.runtime.fail("empty separator");
  const size_t size = text.bytes.size();
  const size_t found =
      from_right ? text.bytes.rfind(separator.bytes) : text.bytes.find(separator.bytes);
  const auto part = [&](size_t begin, size_t end) { return call.runtime.slice(text, begin, end); };
  if (found != std::string::npos)
    return call.runtime.tuple({part(0, found), part(found, found + separator.bytes.size()),
                               part(found + separator.bytes.size(), size)});
  const Value empty = part(0, 0), whole = part(0, size);
  return call.runtime.tuple(from_right ? std::vector<Value>{empty, empty, whole}
                                       : std::vector<Value>{whole, empty, empty});
}

Value join(Call& call) {
  return joined(call.runtime, call.self.text(), items_of(call.runtime, *call.values[0]));
}

Value replace(Call& call) {
  return replaced(call.runtime, call.self.text(), call.text(0), call.text(1), call.integer(2, -1));
}

Value remove_prefix(Call& call) {
  const Text& text = call.self.text();
  const std::string& prefix = call.text(0).bytes;
  const size_t begin = text.bytes.starts_with(prefix) ? prefix.size() : 0;
  return call.runtime.slice(text, begin, text.bytes.size());
}
Value remove_suffix(Call& call) {
  const Text& text = call.self.text();
  const std::string& suffix = call.text(0).bytes;
  const size_t removed = text.bytes.ends_with(suffix) ? suffix.size() : 0;
  return call.runtime.slice(text, 0, text.bytes.size() - removed);
}

size_t missing_width(const Call& call) {
  const auto length = static_cast<int64_t>(call.self.text().length);
  return static_cast<size_t>(std::max<int64_t>(call.integer(0, 0) - length, 0));
}
Value ljust(Call& call) {
  return padded(call.runtime, call.self.text(), 0, missing_width(call), optional_text(call, 1));
}
Value rjust(Call& call) {
  return padded(call.runtime, call.self.text(), missing_width(call), 0, optional_text(call, 1));
}
Value center(Call& call) {
  return centred(call.runtime, call.self.text(), call.integer(0, 0), optional_text(call, 1));
}
Value zfill(Call& call) {
  const Text& text = call.self.text();
  const bool sign = text.bytes.starts_with('-') || text.bytes.starts_with('+');
  return built(call.runtime, text, [&](TextBuilder& out) {
    const size_t zeros = missing_width(call);
    call.runtime.step(zeros / 8);
    out.append(text, 0, sign ? 1 : 0);
    for (size_t i = 0; i < zeros; ++i) out.append("0");
    out.append(text, sign ? 1 : 0, text.bytes.size());
  });
}

Value format(Call& call) { return format_braces(call.runtime, call.self.text(), call.arguments); }
Value format_map(Call& call) {
  Arguments arguments;
  if (!call.values[0]->is_dict()) call.runtime.fail("format_map() argument must be a dict");
  for (const auto& [key, value] : call.values[0]->dict().entries())
    if (key.is_text()) arguments.keywords.emplace_back(key.text().bytes, value);
  return format_braces(call.runtime, call.self.text(), arguments);
}

constexpr Builtin kTextMethods[] = {
    {"strip", "/chars?", strip<true, true>},
    {"lstrip", "/chars?", strip<true, false>},
    {"rstrip", "/chars?", strip<false, true>},
    {"split", "sep? maxsplit?", split_text},
    {"rsplit", "sep? maxsplit?", rsplit},
    {"splitlines", "keepends?", splitlines},
    {"partition", "/sep", partition<false>},
    {"rpartition", "/sep", partition<true>},
    {"join", "/iterable", join},
    {"replace", "/old new count?", replace},
    {"removeprefix", "/prefix", remove_prefix},
    {"removesuffix", "/suffix", remove_suffix},
    {"upper", "", mapped<append_upper>},
    {"lower", "", mapped<append_lower>},
    {"title", "", mapped<append_title>},
    {"capitalize", "", mapped<append_capitalized>},
    {"swapcase", "", mapped<append_swapped>},
    {"ljust", "/width fillchar?", ljust},
    {"rjust", "/width fillchar?", rjust},
    {"center", "/width fillchar?", center},
    {"zfill", "/width", zfill},
    {"format", "*", format},
    {"format_map", "/mapping", format_map},
};

}  // namespace

Builtins text_methods() { return kTextMethods; }

}  // namespace heed::jinja
