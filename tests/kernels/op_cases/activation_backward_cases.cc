#include <array>

#include "heed/kernels/activation.h"
#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

constexpr std::array kDifferentiated{Activation::relu,      Activation::gelu,
                                     Activation::gelu_tanh, Activation::silu,
                                     Activation::tanh,      Activation::clamped_swiglu};

std::vector<OpResult> differentiate_activation(Activation f, const Tensor& x) {
  const Tensor up = normal_input(x.shape(), 21, x.dtype(), 4.0f);
  const Tensor dy = normal_input(x.shape(), 22, x.dtype());
  Tensor dx = result(x.shape(), x.dtype()), in_place = dy.clone();
  Tensor d_gate = result(x.shape(), x.dtype()), d_up = result(x.shape(), x.dtype());
  activation_backward(f, x, dy, dx);
  activation_backward(f, x, in_place, in_place);
  gated_backward(f, x, up, dy, {d_gate, d_up});
  return {
      {"dx", dx, 0.1}, {"in place", in_place, 0.1}, {"d_gate", d_gate, 0.4}, {"d_up", d_up, 0.1}};
}

Tensor extremes_on_host(DType dtype) {
  const DeviceScope host(nullptr);
  const std::vector<float> values = {0.0f,   -0.0f,   1e-30f, -1e-30f, 1e30f, -1e30f, 3e38f, -3e38f,
                                     100.0f, -100.0f, 13.0f,  -13.0f,  88.0f, -88.0f, 5e-5f, -9.0f};
  return in_dtype(Tensor::of({static_cast<int64_t>(values.size())}, values), dtype);
}

const AddOpCases activation_backward_cases([] {
  std::vector<OpCase> cases;
  for (const Activation f : kDifferentiated)
    for (const DType dtype : kFloating) {
      const std::string name = "backward of " + std::string(name_of(f)) + " ";
      // Whole blocks, whole vectors, and what is left.
      for (const int64_t count : {0, 1, 17, 2048, 4120})
        cases.push_back(
            {name + std::to_string(count),
             [=] { return differentiate_activation(f, normal_input({count}, 20, dtype, 3.0f)); }});
      cases.push_back({name + "unaligned", [=] {
                         const Tensor x = normal_input({3, 2049}, 20, dtype, 3.0f);
                         return differentiate_activation(f, x.row_slice(1, 3));
                       }});
      cases.push_back({name + "extremes", [=] {
                         return differentiate_activation(f, input(extremes_on_host(dtype)));
                       }});
    }
  return cases;
});

}  // namespace
}  // namespace heed::kernels
