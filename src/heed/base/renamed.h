#pragma once

#include <span>
#include <string_view>

namespace heed {

/// A name that files of older versions have, and the one that replaced it.
struct Renamed {
  std::string_view former, current;
};

/// The name that replaced `former`; empty when none did.
constexpr std::string_view current_of(std::string_view former, std::span<const Renamed> names) {
  for (const Renamed& name : names)
    if (name.former == former) return name.current;
  return {};
}

/// The name that `current` replaced; empty when there was none.
constexpr std::string_view former_of(std::string_view current, std::span<const Renamed> names) {
  for (const Renamed& name : names)
    if (name.current == current) return name.former;
  return {};
}

}  // namespace heed
