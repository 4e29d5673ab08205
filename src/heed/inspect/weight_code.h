#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed::inspect {

/// How attention weights travel inside a page.
///
/// A weight w in [0, 1] becomes the byte c = round(255 sqrt(w)) and is read back as (c / 255)^2.
/// The root spends the 256 values where weights are: the error is at most sqrt(w) / 255, so 0.25
/// comes back within 0.002, and one of 512 equal weights within a twentieth of itself. Bytes below
/// `floor` are dropped to 0. The bytes are written row by row: a byte other than 0 stands for
/// itself, and 0 is followed by the length of a run of zeros in base 128, lowest digit first, the
/// high bit set on all digits but the last.
///
/// Floors up to kHighestFloor keep every weight within 1/255.
inline constexpr int kHighestFloor = 16;

/// The bytes of `weights` under a floor of 1 to kHighestFloor. What is not a number becomes 0.
std::string packed_weights(std::span<const float> weights, int floor);

/// The number of bytes of packed_weights() under each floor from 0 to kHighestFloor, rounded up by
/// less than a hundredth.
std::array<int64_t, kHighestFloor + 1> packed_sizes(std::span<const float> weights);

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace heed::inspect
