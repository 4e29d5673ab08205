#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace heed {

/// The sizes of up to four axes, outermost first.
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  /// Throws Error on more than four axes, on a negative size, and when the number of elements does
  /// not fit 60 bits.
  Shape(std::initializer_list<int64_t> sizes);
  explicit Shape(std::span<const int64_t> sizes);

  int rank() const { return rank_; }
  /// Size of axis `axis`; negative axes count from the last. Throws Error when there is none.
  int64_t operator[](int axis) const;
  /// Product of all sizes; 1 for rank 0.
  int64_t elements() const;
  /// "[2, 3]".
  std::string text() const;

  bool operator==(const Shape&) const = default;

 private:
  std::array<int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

}  // namespace heed
