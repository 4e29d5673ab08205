#include "heed/kernels/activation.h"

#include <limits>

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

/// Normal numbers, and some that are not near 0.
Tensor arguments_of_activations(int64_t count, uint64_t seed, DType dtype) {
  Tensor x = normals({count}, seed, DType::f32, 3.0f);
  const float hard[] = {0.0f,
                        -0.0f,
                        30.0f,
                        -30.0f,
                        90.0f,
                        -90.0f,
                        6.9f,
                        7.1f,
                        -7.1f,
                        1e20f,
                        std::numeric_limits<float>::infinity(),
                        std::nanf("")};
  for (size_t i = 0; i < std::size(hard) && static_cast<int64_t>(i) < count; ++i)
    x.data<float>()[i] = hard[i];
  return in_dtype(x, dtype);
}

const AddOpCases activation_cases([] {
  std::vector<OpCase> cases;
  for (const Activation f : {Activation::relu, Activation::gelu, Activation::gelu_tanh,
                             Activation::silu, Activation::tanh, Activation::clamped_swiglu})
    for (const DType dtype : kFloating) {
      // Odd, so that the second row is not aligned.
      const Tensor host = arguments_of_activations(2 * 1001, 41, dtype).reshaped({2, 1001});
      cases.push_back({std::string(name_of(f)), [=] {
                         const Tensor x = input(host), up = normal_input({1001}, 42, dtype, 5.0f);
                         Tensor y = result(x.shape(), dtype), gated = result({1, 1001}, dtype);
                         activation_forward(f, x, y);
                         gated_forward(f, x.row_slice(1, 2), up, gated);
                         return std::vector<OpResult>{{"y", y}, {"gated", gated}};
                       }});
    }
  return cases;
});

}  // namespace
}  // namespace heed::kernels
