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
  /// Throws Error for more than four axes, a negative size, or more than 2^60 elements.
  Shape(std::initializer_list<int64_t> sizes);
  explicit Shape(std::span<const int64_t> sizes);

  int rank() const { return rank_; }
  /// The size of an axis; negative ones count from the last. Throws Error if it does not exist.
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
