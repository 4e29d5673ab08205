#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/values/case.h"
#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

bool is_ascii(char32_t value) { return value < 0x80; }

/// Whether every character is so; `of_empty` if there is none.
template <bool (*holds)(char32_t), bool of_empty = false>
Value all_characters(Call& call) {
  const Text& text = call.self.text();
  call.runtime.step_characters(text.bytes.size());
  for (CharacterReader reader(text); !reader.done();)
    if (!holds(reader.next().value)) return Value(false);
  return Value(of_empty || text.length > 0);
}

template <Case wanted>
Value in_case(Call& call) {
  call.runtime.step_characters(call.self.text().bytes.size());
  return Value(has_case(call.self.text(), wanted));
}

Value is_identifier(Call& call) {
  const Text& text = call.self.text();
  call.runtime.step_characters(text.bytes.size());
  for (CharacterReader reader(text); !reader.done();) {
    const Character c = reader.next();
    const bool start = c.value == '_' || is_alpha(c.value);
    if (!start && (c.begin == 0 || !is_decimal(c.value))) return Value(false);
  }
  return Value(text.length > 0);
}

constexpr Builtin kTextPropertyMethods[] = {
    {"isspace", "", all_characters<is_space>},
    {"isalpha", "", all_characters<is_alpha>},
    {"isalnum", "", all_characters<is_alnum>},
    {"isdecimal", "", all_characters<is_decimal>},
    {"isdigit", "", all_characters<is_digit>},
    {"isnumeric", "", all_characters<is_numeric>},
    {"isprintable", "", all_characters<is_printable, true>},
    {"isascii", "", all_characters<is_ascii, true>},
    {"islower", "", in_case<Case::lower>},
    {"isupper", "", in_case<Case::upper>},
    {"istitle", "", in_case<Case::title>},
    {"isidentifier", "", is_identifier},
};

}  // namespace

Builtins text_property_methods() { return kTextPropertyMethods; }

}  // namespace heed::jinja
