#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed::inspect {

/// The encoding of attention weights in a page.
///
/// A weight w in [0, 1] is stored as the code c = round(255 sqrt(w)) and decoded as (c / 255)^2.
/// The square root gives small weights, which are most common, a finer resolution: the error is at
/// most sqrt(w) / 255, which is 0.002 for w = 0.25 and 5 % of w for w = 1/512. Codes below `floor`
/// are set to 0. The codes are written row by row as bytes: a code other than 0 as itself, a run of
/// zeros as 0 followed by its length in base 128, least significant digit first, with the high bit
/// set on all digits but the last.
///
/// With floors up to kMaxFloor every weight is accurate to 1/255.
inline constexpr int kMaxFloor = 16;

/// Encodes `weights` with a floor of 1 to kMaxFloor. NaN, infinity and negative numbers become 0.
std::string packed_weights(std::span<const float> weights, int floor);

/// An upper estimate, within 1 %, of the size of packed_weights() in bytes for each floor from 0 to
/// kMaxFloor.
std::array<int64_t, kMaxFloor + 1> packed_sizes(std::span<const float> weights);

/// Base64 as in RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace heed::inspect
