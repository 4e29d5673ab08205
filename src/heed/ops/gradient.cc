#include "heed/ops/gradient.h"

#include <utility>

#include "heed/base/error.h"

namespace heed {

Gradient& Gradient::operator=(Tensor sum) {
  wanted_ = sum.defined();
  shape_ = sum.shape();
  sum_ = std::move(sum);
  room_ = {};
  return *this;
}

Tape::Slot Gradient::slot() {
  require(wanted_, "a gradient of a parameter that is not trained");
  const bool fresh = !sum_.defined();
  if (fresh) {
    room_ = {};
    sum_ = Tensor::empty(shape_);
  }
  return {sum_, !fresh};
}

Gradient::operator Tensor&() {
  auto [sum, accumulate] = slot();
  if (!accumulate) sum.fill_zero();
  return sum_;
}

void Gradient::fill_zero() {
  if (!wanted_) return;
  sum_ = {};
  room_ = {};
  room_ = Reservation(static_cast<size_t>(bytes_of(DType::f32, shape_.elements())));
}

}  // namespace heed
