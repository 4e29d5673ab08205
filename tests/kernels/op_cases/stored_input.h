#pragma once

#include "tests/kernels/op_cases/op_cases.h"
#include "tests/kernels/stored_testing.h"

namespace heed::kernels {

/// random_stored() on the host, as mapped weights are.
inline Tensor stored_on_host(const Shape& shape, DType dtype, uint64_t seed) {
  const DeviceScope host(nullptr);
  return random_stored(shape, dtype, seed);
}
/// The same where the case runs.
inline Tensor stored_input(const Shape& shape, DType dtype, uint64_t seed) {
  return stored_on_host(shape, dtype, seed).to(current_device());
}

}  // namespace heed::kernels
