#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/jinja/values/repr.h"
#include "heed/jinja/values/text_tools.h"
#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

const Text& require_text(const Call& call) {
  if (call.self.is_text()) return call.self.text();
  if (call.self.is_undefined()) fail_undefined(call.runtime, call.self);
  call.runtime.fail("a string is expected, not {}", type_name(call.self));
}

Value indent(Call& call) {
  const Text& text = require_text(call);
  const bool first = call.flag(1, false), blank = call.flag(2, false);
  TextBuilder out(call.runtime.values);
  const auto append_indent = [&] {
    if (call.has(0) && call.values[0]->is_text()) return out.append(call.values[0]->text());
    const int64_t width = call.integer(0, 4);
    call.runtime.step(1 + static_cast<uint64_t>(std::max<int64_t>(width, 0)) / 8);
    for (int64_t i = 0; i < width; ++i) out.append(" ");
  };
  call.runtime.step_characters(text.bytes.size());
  if (first) append_indent();
  std::vector<Span> lines = lines_of(text, false);
  // jinja2 adds "\n" before it splits, so a text that ends with a line end has an empty last line,
  // but for "\r", which becomes one line end with it.
  const bool ended =
      text.bytes.empty() || (lines.back().end < text.bytes.size() && text.bytes.back() != '\r');
  if (ended) lines.push_back({text.bytes.size(), text.bytes.size()});
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n");
    if (i > 0 && (blank || lines[i].begin < lines[i].end)) append_indent();
    out.append(text, lines[i].begin, lines[i].end);
  }
  return call.runtime.text(out.finish(text.markup));
}

constexpr Builtin kTextLayoutFilters[] = {
    {"indent", "width? first? blank?", indent},
};

}  // namespace

Builtins text_layout_filters() { return kTextLayoutFilters; }

}  // namespace heed::jinja
