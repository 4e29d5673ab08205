#include "heed/ops/parameter.h"

#include "heed/base/error.h"
#include "heed/kernels/elementwise.h"

namespace heed {
namespace {

void require_elements(const Parameter& parameter) {
  require(parameter.present(), "{} has no elements: they were given back once it was packed",
          parameter.name);
}

}  // namespace

bool Parameter::keeps(DType dtype) const {
  return value.dtype() == dtype || (working.defined() && working.dtype() == dtype);
}

bool Parameter::has(DType dtype) const {
  return keeps(dtype) || (gradient.defined() && value.dtype() == DType::f32);
}

Tensor Parameter::read(DType dtype) const {
  require(has(dtype), "{} is {} and has no {} copy", name, name_of(value.dtype()), name_of(dtype));
  require_elements(*this);
  if (keeps(dtype)) return value.dtype() == dtype ? value : working;
  Tensor converted = Tensor::empty(value.shape(), dtype);
  kernels::convert(value, converted);
  return converted;
}

void Parameter::require_trainable() const {
  require(value.dtype() == DType::f32, "{} is stored as {}: only f32 can be trained", name,
          name_of(value.dtype()));
  require_elements(*this);
}

}  // namespace heed
