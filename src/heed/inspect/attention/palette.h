#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace heed::inspect {

/// The colours of the heads in pages and figures, repeated from the 17th head on.
inline constexpr std::array<std::string_view, 16> kHeadColours = {
    "#2f6fde", "#e0662a", "#23985a", "#c93a72", "#7d54d1", "#a8860b", "#0f97ad", "#d1453b",
    "#5a7d1f", "#a549b8", "#4a5fb5", "#b96a3c", "#1d8a84", "#d05a9a", "#6b6f7b", "#8a5a2b"};

inline std::string_view head_colour(int64_t head) {
  return kHeadColours[static_cast<size_t>(head) % kHeadColours.size()];
}

}  // namespace heed::inspect
