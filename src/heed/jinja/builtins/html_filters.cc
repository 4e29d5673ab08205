#include "heed/jinja/values/html.h"

#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {
namespace {

/// str(value) with another flag.
Value with_markup(Runtime& runtime, const Value& value, bool markup) {
  const Value text = str_of(runtime, value);
  TextBuilder out(runtime.values);
  out.append(text.text());
  return runtime.text(out.finish(markup));
}

Value escaped(Runtime& runtime, const Value& text) {
  runtime.step_characters(text.text().bytes.size());
  TextBuilder out(runtime.values);
  append_escaped(out, text.text());
  return runtime.text(out.finish(true));
}

Value escape(Call& call) { return escaped(call.runtime, str_of(call.runtime, call.self)); }
Value force_escape(Call& call) {
  return escaped(call.runtime, with_markup(call.runtime, call.self, false));
}
Value safe(Call& call) { return with_markup(call.runtime, call.self, true); }

bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_.-~").find(c) != std::string_view::npos;
}

/// urllib's quote(); with `query`, a space becomes "+" and "/" is escaped too.
void append_url(TextBuilder& out, const Text& text, bool query) {
  for (CharacterReader reader(text); !reader.done();) {
    const Character c = reader.next();
    for (size_t i = c.begin; i < c.end; ++i) {
      const char byte = text.bytes[i];
      if (is_unreserved(byte) || (byte == '/' && !query))
        out.append({&byte, 1}, c.input);
      else if (byte == ' ' && query)
        out.append("+", c.input);
      else
        out.append(fmt::format("%{:02X}", static_cast<unsigned char>(byte)), c.input);
    }
  }
}

Value url_encode(Call& call) {
  Runtime& runtime = call.runtime;
  TextBuilder out(runtime.values);
  const auto append = [&](const Value& value, bool query) {
    const Value text = str_of(runtime, value);
    runtime.step_characters(text.text().bytes.size());
    append_url(out, text.text(), query);
  };
  if (call.self.is_text() || !is_iterable(call.self)) {
    append(call.self, false);
    return runtime.text(out.finish());
  }
  bool begun = false;
  const auto append_pair = [&](const Value& key, const Value& value) {
    if (std::exchange(begun, true)) out.append("&");
    append(key, true);
    out.append("=");
    append(value, true);
  };
  if (call.self.is_dict()) {
    for (const auto& [key, value] : call.self.dict().entries()) append_pair(key, value);
    return runtime.text(out.finish());
  }
  for (const Value& item : items_of(runtime, call.self)) {
    const std::vector<Value> pair = items_of(runtime, item);
    if (pair.size() != 2) runtime.fail("urlencode: expected pairs, found {} values", pair.size());
    append_pair(pair[0], pair[1]);
  }
  return runtime.text(out.finish());
}

Value xml_attributes(Call& call) {
  Runtime& runtime = call.runtime;
  const bool space = call.flag(0, true);
  if (!call.self.is_dict()) runtime.fail("'{}' object has no items", type_name(call.self));
  TextBuilder out(runtime.values);
  for (const auto& [key, value] : call.self.dict().entries()) {
    if (value.is_none() || value.is_undefined()) continue;
    if (!key.is_text() || key.text().bytes.find_first_of(" \t\n\r\f\v/>=") != std::string::npos)
      runtime.fail("Invalid character in attribute name");
    if (out.size() > 0 || space) out.append(" ");
    append_escaped(out, key.text());
    out.append("=\"");
    append_escaped(out, str_of(runtime, value).text());
    out.append("\"");
  }
  return runtime.text(out.finish());
}

constexpr Builtin kHtmlFilters[] = {
    {"escape", "", escape},
    {"e", "", escape},
    {"forceescape", "", force_escape},
    {"safe", "", safe},
    {"urlencode", "", url_encode},
    {"xmlattr", "autospace?", xml_attributes},
};

}  // namespace

Builtins html_filters() { return kHtmlFilters; }

}  // namespace heed::jinja
