#include "heed/jinja/values/html.h"

namespace heed::jinja {
namespace {

std::string_view entity_of(char32_t value) {
  switch (value) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&#34;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

void append_escaped(TextBuilder& out, const Text& text) {
  if (text.markup) return out.append(text);
  for (CharacterReader reader(text); !reader.done();) {
    const Character c = reader.next();
    if (const std::string_view entity = entity_of(c.value); !entity.empty())
      out.append(entity, c.input);
    else
      out.append(text, c.begin, c.end);
  }
}

void append_part(TextBuilder& out, const Text& text, bool markup) {
  if (markup)
    append_escaped(out, text);
  else
    out.append(text);
}

}  // namespace heed::jinja
