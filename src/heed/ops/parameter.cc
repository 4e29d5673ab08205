#include "heed/ops/parameter.h"

#include "heed/base/error.h"
#include "heed/kernels/as_f32.h"
#include "heed/kernels/elementwise.h"

namespace heed {
namespace {

void require_elements(const Parameter& parameter) {
  require(parameter.present(), "{} has no elements: they were freed when it was packed",
          parameter.name);
}

}  // namespace

Tensor Parameter::elements_in(DType dtype) const {
  if (working.defined() && working.dtype() == dtype) return working;
  if (value.defined() && value.dtype() == dtype) return value;
  const Tensor& elements = packed.elements();
  return elements.defined() && elements.dtype() == dtype ? elements : Tensor();
}

Tensor Parameter::read(DType dtype) const {
  if (Tensor held = elements_in(dtype); held.defined()) return held;
  require_elements(*this);
  const Tensor wide = kernels::as_f32(value);
  if (dtype == DType::f32) return wide;
  Tensor converted = Tensor::empty(value.shape(), dtype);
  kernels::convert(wide, converted);
  return converted;
}

void Parameter::require_trainable() const {
  if (!trainable) return;
  require(value.dtype() == DType::f32, "{} is stored as {}: only f32 can be trained", name,
          name_of(value.dtype()));
  require_elements(*this);
}

}  // namespace heed
