#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/values/case.h"
#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

/// Whether there are characters, and every one is so.
template <bool (*holds)(char32_t)>
Value all_characters(Call& call) {
  const Text& text = call.self.text();
  call.runtime.step_characters(text.bytes.size());
  for (CharacterReader reader(text); !reader.done();)
    if (!holds(reader.next().value)) return Value(false);
  return Value(text.length > 0);
}

template <Case wanted>
Value in_case(Call& call) {
  call.runtime.step_characters(call.self.text().bytes.size());
  return Value(has_case(call.self.text(), wanted));
}

constexpr Builtin kTextPropertyMethods[] = {
    {"isspace", "", all_characters<is_space>}, {"isalpha", "", all_characters<is_alpha>},
    {"isalnum", "", all_characters<is_alnum>}, {"isdigit", "", all_characters<is_digit>},
    {"islower", "", in_case<Case::lower>},     {"isupper", "", in_case<Case::upper>},
};

}  // namespace

Builtins text_property_methods() { return kTextPropertyMethods; }

}  // namespace heed::jinja
