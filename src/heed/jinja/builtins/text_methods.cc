#include <algorithm>
#include <charconv>

#include "heed/base/quote.h"
#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/runtime.h"
#include "heed/jinja/values/case.h"
#include "heed/jinja/values/html.h"
#include "heed/jinja/values/repr.h"
#include "heed/jinja/values/text_tools.h"

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

Value join_items(Call& call) {
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

/// Python's text.format(*positional, **keywords), with fields that are empty, a number or a name.
class BraceFormat {
 public:
  BraceFormat(Runtime& runtime, const Text& text, const Arguments& arguments)
      : runtime_(runtime), text_(text), arguments_(arguments) {}

  Text run() {
    const std::string& bytes = text_.bytes;
    runtime_.step_bytes(2 * bytes.size());
    TextBuilder out(runtime_.values);
    for (size_t at = 0; at < bytes.size();) {
      const size_t brace = std::min(bytes.find_first_of("{}", at), bytes.size());
      out.append(text_, at, brace);
      if (brace == bytes.size()) break;
      at = brace + 1;
      if (at < bytes.size() && bytes[at] == bytes[brace]) {
        out.append(text_, brace, at++);
        continue;
      }
      if (bytes[brace] == '}') runtime_.fail("Single '}}' encountered in format string");
      const size_t close = bytes.find('}', at);
      if (close == std::string::npos) runtime_.fail("expected '}}' before end of string");
      append(out, argument(std::string_view(bytes).substr(at, close - at)));
      at = close + 1;
    }
    return out.finish(text_.markup);
  }

 private:
  Value argument(std::string_view name) {
    if (name.find_first_of("{.[!:") != std::string_view::npos)
      runtime_.fail("format(): the field {} is not supported, only a number or a name",
                    quoted(name));
    size_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool numbered = error == std::errc() && end == name.data() + name.size();
    if (name.empty() || numbered) {
      if (automatic_ && *automatic_ != name.empty())
        runtime_.fail("cannot mix manual field specification and automatic field numbering");
      automatic_ = name.empty();
      if (name.empty()) index = next_++;
      if (index >= arguments_.positional.size())
        runtime_.fail("Replacement index {} out of range for positional args tuple", index);
      return arguments_.positional[index];
    }
    const Value* found = arguments_.keyword(name);
    if (found == nullptr)
      runtime_.fail("the format names an argument {} that is not given", quoted(name));
    return *found;
  }

  void append(TextBuilder& out, const Value& value) {
    const Value text = str_of(runtime_, value);
    runtime_.step_bytes(text.text().bytes.size());
    append_part(out, text.text(), text_.markup);
  }

  Runtime& runtime_;
  const Text& text_;
  const Arguments& arguments_;
  std::optional<bool> automatic_;  // fields are numbered automatically
  size_t next_ = 0;
};

Value format(Call& call) {
  return call.runtime.text(BraceFormat(call.runtime, call.self.text(), call.arguments).run());
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
    {"join", "/iterable", join_items},
    {"replace", "/old new count?", replace},
    {"removeprefix", "/prefix", remove_prefix},
    {"removesuffix", "/suffix", remove_suffix},
    {"upper", "", mapped<append_upper>},
    {"lower", "", mapped<append_lower>},
    {"title", "", mapped<append_title>},
    {"capitalize", "", mapped<append_capitalized>},
    {"format", "*", format},
};

}  // namespace

Builtins text_methods() { return kTextMethods; }

}  // namespace heed::jinja
