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

Value truncate(Call& call) {
  const auto size = length_of(call.runtime, call.self);
  if (!size) call.runtime.fail("object of type '{}' has no len()", type_name(call.self));
  const int64_t length = call.integer(0, 255);
  const bool kill_words = call.flag(1, false);
  const Value dots = call.has(2) ? *call.values[2] : call.runtime.text("...");
  if (!dots.is_text()) call.runtime.fail("truncate: the end must be a string");
  const int64_t leeway = call.value(3).is_none() ? 5 : call.integer(3, 5);
  const auto end_length = static_cast<int64_t>(dots.text().length);
  if (length < end_length) call.runtime.fail("expected length >= {}, got {}", end_length, length);
  if (leeway < 0) call.runtime.fail("expected leeway >= 0, got {}", leeway);
  const auto excess = static_cast<int64_t>(*size) - length;
  if (excess <= leeway) return call.self;
  const Text& text = require_text(call);
  size_t end = text.byte_of(static_cast<size_t>(length - end_length));
  if (!kill_words) {
    const size_t space = text.bytes.substr(0, end).rfind(' ');
    if (space != std::string::npos) end = space;
  }
  return built(call.runtime, text, [&](TextBuilder& out) {
    out.append(text, 0, end);
    out.append(dots.text());
  });
}

Value center_text(Call& call) {
  const Value text = str_of(call.runtime, call.self);
  return centred(call.runtime, text.text(), call.integer(0, 80), nullptr);
}

Value count_words(Call& call) {
  const Value text = str_of(call.runtime, call.self);
  call.runtime.step_characters(text.text().bytes.size());
  int64_t words = 0;
  bool inside = false;
  for (CharacterReader reader(text.text()); !reader.done();) {
    const char32_t value = reader.next().value;
    const bool letter = value == '_' || is_alnum(value);
    words += letter && !inside;
    inside = letter;
  }
  return Value(words);
}

constexpr Builtin kTextLayoutFilters[] = {
    {"indent", "width? first? blank?", indent},
    {"truncate", "length? killwords? end? leeway?", truncate},
    {"center", "width?", center_text},
    {"wordcount", "", count_words},
};

}  // namespace

Builtins text_layout_filters() { return kTextLayoutFilters; }

}  // namespace heed::jinja
