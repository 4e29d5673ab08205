#pragma once

#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed {

/// The one of `values` whose name_of() is `name`; throws Error with the names that are known. Enums
/// that are written to files have a name_of() beside them.
template <typename Values>
auto named(std::string_view name, const Values& values) {
  std::string known;
  for (const auto value : values) {
    if (name == name_of(value)) return value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name_of(value));
  }
  fail("\"{}\" is not known, expected one of {}", name, known);
}

}  // namespace heed
