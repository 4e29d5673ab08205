#pragma once

#include <span>
#include <string_view>

namespace heed {

/// A key that older versions wrote, and the key that replaced it.
struct Renamed {
  std::string_view former, current;
};

/// The current name of `former`; empty when `former` was not renamed.
constexpr std::string_view current_of(std::string_view former, std::span<const Renamed> names) {
  for (const Renamed& name : names)
    if (name.former == former) return name.current;
  return {};
}

/// The former name of `current`; empty when it had none.
constexpr std::string_view former_of(std::string_view current, std::span<const Renamed> names) {
  for (const Renamed& name : names)
    if (name.current == current) return name.former;
  return {};
}

}  // namespace heed
