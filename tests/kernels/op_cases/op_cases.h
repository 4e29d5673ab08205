#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "heed/tensor/device.h"
#include "tests/kernels/kernel_testing.h"

// The one list of cases of kernels that every backend computes: compare_backends.cc compares the
// backends. NAME_cases.cc has those of kernels/NAME.h.

namespace heed::kernels {

/// A tensor that a case computed. Two backends may differ as expect_close() says with this
/// magnitude.
struct OpResult {
  std::string name;
  Tensor value;
  double magnitude = 1.0;
};

struct OpCase {
  std::string name;  // "softmax of [3, 17] bf16"
  /// Makes the inputs with inputs() and results with result(), calls kernels by their names alone
  /// and returns what they computed. It runs once on every backend, and must do the same each time.
  std::function<std::vector<OpResult>()> run;
  /// Whether the GPU has the bits of the CPU.
  bool same_bits = false;
};

/// All cases; a file adds its own with
///   const AddOpCases softmax_cases([] { return std::vector<OpCase>{...}; });
std::vector<std::function<std::vector<OpCase>()>>& op_case_lists();
struct AddOpCases {
  explicit AddOpCases(std::function<std::vector<OpCase>()> list) {
    op_case_lists().push_back(std::move(list));
  }
};

/// A tensor of the host where the case runs.
inline Tensor input(const Tensor& on_host) { return on_host.to(current_device()); }
/// Normal numbers times `spread`, where the case runs.
inline Tensor normal_input(const Shape& shape, uint64_t seed, DType dtype = DType::f32,
                           float spread = 1.0f) {
  Device* const device = current_device();
  const DeviceScope host(nullptr);
  return normals(shape, seed, dtype, spread).to(device);
}
/// A tensor to be written by a kernel: of bytes 0xff, which are NaN, so that what is not written
/// shows.
inline Tensor result(const Shape& shape, DType dtype = DType::f32) {
  Device* const device = current_device();
  const DeviceScope host(nullptr);
  Tensor tensor = Tensor::empty(shape, dtype);
  if (tensor.bytes()) std::memset(tensor.raw(), 0xff, static_cast<size_t>(tensor.bytes()));
  return tensor.to(device);
}

}  // namespace heed::kernels
