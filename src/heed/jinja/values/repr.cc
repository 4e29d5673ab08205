#include "heed/jinja/values/repr.h"

#include <charconv>
#include <cmath>

#include "heed/base/display.h"
#include "heed/jinja/runtime.h"
#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

void append_character_repr(TextBuilder& out, const Text& text, const Character& c, char quote) {
  switch (c.value) {
    case '\\':
      return out.append("\\\\", c.input);
    case '\n':
      return out.append("\\n", c.input);
    case '\r':
      return out.append("\\r", c.input);
    case '\t':
      return out.append("\\t", c.input);
    default:
      break;
  }
  if (c.value == static_cast<char32_t>(quote))
    out.append(fmt::format("\\{}", quote), c.input);
  else if (is_printable(c.value))
    out.append(text, c.begin, c.end);
  else
    out.append(escape_of(c.value), c.input);
}

void append_text_repr(Runtime& runtime, TextBuilder& out, const Text& text) {
  runtime.step_characters(text.bytes.size());
  const bool single = text.bytes.find('\'') == std::string::npos;
  const char quote = single || text.bytes.find('"') != std::string::npos ? '\'' : '"';
  if (text.markup) out.append("Markup(");
  out.append({&quote, 1});
  for (CharacterReader reader(text); !reader.done();)
    append_character_repr(out, text, reader.next(), quote);
  out.append({&quote, 1});
  if (text.markup) out.append(")");
}

void append_dict_repr(Runtime& runtime, TextBuilder& out, const Dict& dict) {
  out.append("{");
  for (const auto& [key, value] : dict.entries()) {
    if (&key != &dict.entries().front().first) out.append(", ");
    append_repr(runtime, out, key);
    out.append(": ");
    append_repr(runtime, out, value);
  }
  out.append("}");
}

void append_items_repr(Runtime& runtime, TextBuilder& out, const std::vector<Value>& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(", ");
    append_repr(runtime, out, items[i]);
  }
}

void append_object_repr(Runtime& runtime, TextBuilder& out, const Value& value) {
  if (const auto* range = value.as<Range>()) {
    const std::string step = range->step() == 1 ? "" : fmt::format(", {}", range->step());
    out.append(fmt::format("range({}, {}{})", range->start(), range->stop(), step));
  } else if (value.as<DictView>()) {
    out.append(type_name(value));
    out.append("([");
    append_items_repr(runtime, out, items_of(runtime, value));
    out.append("])");
  } else {
    // Python shows an address for most of them.
    runtime.fail("printing a {} is not supported", type_name(value));
  }
}

}  // namespace

std::string repr_of(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[32];
  const char* end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), end, exponent);
  if (exponent < -4 || exponent >= 16) return std::string(text);
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string plain(buffer, fixed.ptr);
  if (plain.find('.') == std::string::npos) plain += ".0";
  return plain;
}

void append_repr(Runtime& runtime, TextBuilder& out, const Value& value) {
  const Runtime::Level level(runtime);
  runtime.step();
  if (value.is_text()) {
    append_text_repr(runtime, out, value.text());
  } else if (value.is_undefined()) {
    out.append("Undefined");
  } else if (value.is_none()) {
    out.append("None");
  } else if (value.is_bool()) {
    out.append(value.boolean() ? "True" : "False");
  } else if (value.is_int()) {
    out.append(std::to_string(*value.integer()));
  } else if (value.is_float()) {
    out.append(repr_of(value.real()));
  } else if (value.is_sequence()) {
    const bool tuple = value.is_tuple();
    out.append(tuple ? "(" : "[");
    append_items_repr(runtime, out, value.items());
    out.append(!tuple ? "]" : value.items().size() == 1 ? ",)" : ")");
  } else if (value.is_dict()) {
    append_dict_repr(runtime, out, value.dict());
  } else {
    append_object_repr(runtime, out, value);
  }
}

void append_str(Runtime& runtime, TextBuilder& out, const Value& value) {
  if (value.is_text()) {
    runtime.step_bytes(value.text().bytes.size());
    out.append(value.text());
  } else if (!value.is_undefined()) {
    append_repr(runtime, out, value);
  }
}

Value str_of(Runtime& runtime, const Value& value) {
  if (value.is_text()) return value;
  TextBuilder out(runtime.values);
  append_str(runtime, out, value);
  return runtime.text(out.finish());
}

}  // namespace heed::jinja
