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

/// Encodes a stream of weights.
class WeightEncoder {
 public:
  /// `floor` is 1 to kMaxFloor.
  explicit WeightEncoder(int floor) : floor_(floor) {}

  /// Appends weights. One that is not finite counts as 0.
  void add(std::span<const float> weights);
  /// Raises the floor to `floor` for the weights added so far and for all later ones.
  void raise_floor(int floor);

  /// The number of bytes so far, without a run of zeros at the end.
  int64_t bytes() const { return static_cast<int64_t>(bytes_.size()); }
  /// Estimates of the number of bytes at each floor from 0 to kMaxFloor: at most 1 % too high.
  std::array<int64_t, kMaxFloor + 1> sizes() const;
  /// All bytes. To be called once, after the last add().
  std::string take();

 private:
  void append(int code);
  void count(int code);

  int floor_;
  std::string bytes_;
  uint64_t zeros_ = 0;  // of a run at the end that is not yet in bytes_
  // At floor f, a run of zeros begins where a code is below f and the code before it is not, i.e.
  // for floors code + 1 to previous. run_changes_[f] is how many more runs floor f has than f - 1.
  std::array<int64_t, 257> occurrences_{}, run_changes_{};
  int previous_ = 255;
};

}  // namespace heed::inspect
