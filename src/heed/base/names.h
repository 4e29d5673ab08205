#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed {

/// The element of `values` whose name_of() equals `name`. Throws Error that lists the valid names.
/// Every enum that is written to files declares a name_of() beside it.
template <typename Values>
auto named(std::string_view name, const Values& values) {
  std::string known;
  for (const auto value : values) {
    if (name == name_of(value)) return value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name_of(value));
  }
  fail("{} is not known, expected one of {}", quoted(name), known);
}

/// All values of an enumeration, beyond which name_of() is "?".
template <typename Enum>
std::vector<Enum> enumerators() {
  std::vector<Enum> all;
  for (int i = 0; name_of(static_cast<Enum>(i)) != "?"; ++i) all.push_back(static_cast<Enum>(i));
  return all;
}

}  // namespace heed
