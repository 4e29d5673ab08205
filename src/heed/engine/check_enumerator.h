#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "heed/base/error.h"

namespace heed::engine {

/// Throws Error, naming the option, unless `value`, if there is one, is among `known`.
template <typename Value, size_t count>
void check_enumerator(const char* name, std::optional<Value> value,
                      const std::array<Value, count>& known) {
  require(!value || std::ranges::find(known, *value) != known.end(),
          "{} is {}, expected 0 to {}: one of its enumerators", name,
          static_cast<int>(value.value_or(Value())), count - 1);
}

}  // namespace heed::engine
