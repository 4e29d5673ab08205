#include "heed/ops/parameter.h"

#include "heed/base/error.h"

namespace heed {

const Tensor& Parameter::read(DType dtype) const {
  if (dtype == DType::f32) return value;
  require(working.defined(), "{} has no {} copy", name, name_of(dtype));
  return working;
}

}  // namespace heed
