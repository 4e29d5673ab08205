#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/jinja/values/case.h"
#include "heed/jinja/values/repr.h"
#include "heed/jinja/values/text_tools.h"
#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

/// The filter's input as a string.
Value text_of(const Call& call) { return str_of(call.runtime, call.self); }

template <void (*append)(TextBuilder&, const Text&)>
Value mapped_text(Call& call) {
  const Value value = text_of(call);
  call.runtime.step_characters(value.text().bytes.size());
  return built(call.runtime, value.text(), [&](TextBuilder& out) { append(out, value.text()); });
}

Value to_string(Call& call) { return text_of(call); }

Value trim(Call& call) {
  const Value value = text_of(call);
  call.runtime.step_bytes(value.text().bytes.size());
  const Text* characters = call.value(0).is_none() ? nullptr : &call.text(0);
  const Span span = stripped(value.text(), characters, true, true);
  return call.runtime.slice(value.text(), span.begin, span.end);
}

Value plain(const Call& call, const Value& value) {
  const Value text = str_of(call.runtime, value);
  if (!text.text().markup) return text;
  TextBuilder out(call.runtime.values);
  out.append(text.text());
  return call.runtime.text(out.finish());
}

Value replace_text(Call& call) {
  const Value text = plain(call, call.self), old = plain(call, *call.values[0]);
  const int64_t count = call.value(2).is_none() ? -1 : call.integer(2, -1);
  return replaced(call.runtime, text.text(), old.text(), plain(call, *call.values[1]).text(),
                  count);
}

/// The characters after which jinja2's "title" begins a new word.
bool begins_word(char32_t value) {
  return is_space(value) ||
         (value < 0x80 &&
          std::string_view("-({[<").find(static_cast<char>(value)) != std::string_view::npos);
}

Value title(Call& call) {
  const Value value = text_of(call);
  const Text& text = value.text();
  TextBuilder out(call.runtime.values);
  call.runtime.step_characters(text.bytes.size());
  for (size_t begin = 0; begin < text.bytes.size();) {
    // A run of characters between words, or a word.
    const bool between = begins_word(code_point_at(text.bytes, begin).value);
    size_t end = begin, first = begin;
    while (end < text.bytes.size()) {
      const CodePoint point = code_point_at(text.bytes, end);
      if (begins_word(point.value) != between) break;
      end += point.length;
      if (first == begin) first = end;
    }
    const auto part = [&](size_t from, size_t to) { return call.runtime.slice(text, from, to); };
    append_upper(out, part(begin, first).text());
    append_lower(out, part(first, end).text());
    begin = end;
  }
  return call.runtime.text(out.finish());
}

Value indent(Call& call) {
  if (call.self.is_undefined()) fail_undefined(call.runtime, call.self);
  if (!call.self.is_text()) call.runtime.fail("a string is expected, not {}", type_name(call.self));
  const Text& text = call.self.text();
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

constexpr Builtin kTextFilters[] = {
    {"trim", "chars?", trim},
    {"string", "", to_string},
    {"upper", "", mapped_text<append_upper>},
    {"lower", "", mapped_text<append_lower>},
    {"capitalize", "", mapped_text<append_capitalized>},
    {"title", "", title},
    {"replace", "old new count?", replace_text},
    {"indent", "width? first? blank?", indent},
};

}  // namespace

Builtins text_filters() { return kTextFilters; }

}  // namespace heed::jinja
