#include "heed/tensor/shape.h"

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 60;  // so that the number of bytes fits 63 bits

}

Shape::Shape(std::initializer_list<int64_t> sizes)
    : Shape(std::span(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const int64_t> sizes) {
  require(sizes.size() <= kMaxRank, "a shape of {} axes, at most {} are possible", sizes.size(),
          kMaxRank);
  for (const int64_t size : sizes) {
    require(size >= 0, "axis {} has size {}", rank_, size);
    sizes_[rank_++] = size;
  }
  int64_t count = 1;
  for (int axis = 0; axis < rank_; ++axis) {
    const bool fits = !__builtin_mul_overflow(count, sizes_[axis], &count) && count < kMaxElements;
    if (!fits) fail("a shape {} has too many elements", text());
  }
}

int64_t Shape::operator[](int axis) const {
  const int index = axis < 0 ? axis + rank_ : axis;
  if (index < 0 || index >= rank_) fail("axis {} is outside the shape {}", axis, text());
  return sizes_[index];
}

int64_t Shape::elements() const {
  int64_t product = 1;
  for (int axis = 0; axis < rank_; ++axis) product *= sizes_[axis];
  return product;
}

std::string Shape::text() const {
  std::string out = "[";
  for (int axis = 0; axis < rank_; ++axis) out += (axis ? ", " : "") + std::to_string(sizes_[axis]);
  return out + "]";
}

}  // namespace heed
