#include "heed/ops/parameter.h"

#include "heed/base/error.h"

namespace heed {

bool Parameter::has(DType dtype) const {
  return value.dtype() == dtype || (working.defined() && working.dtype() == dtype);
}

const Tensor& Parameter::read(DType dtype) const {
  require(has(dtype), "{} is {} and has no {} copy", name, name_of(value.dtype()), name_of(dtype));
  return value.dtype() == dtype ? value : working;
}

void Parameter::require_trainable() const {
  require(value.dtype() == DType::f32, "{} is stored as {}: only f32 can be trained", name,
          name_of(value.dtype()));
}

}  // namespace heed
