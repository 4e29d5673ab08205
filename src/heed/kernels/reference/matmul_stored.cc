#include "heed/kernels/matmul_stored.h"

#include "heed/kernels/reference/stored_rows.h"

namespace heed::kernels::reference {
namespace {

template <typename A, typename W, typename C>
void multiply_stored(const Tensor& a, const Tensor& weight, const Tensor& bias, Tensor& c) {
  const int64_t depth = a.cols(), n = weight.rows();
  const float* start = bias.defined() ? bias.data<float>() : nullptr;
  for (int64_t row = 0; row < a.rows(); ++row)
    for (int64_t col = 0; col < n; ++col) {
      const auto* w = reinterpret_cast<const W*>(weight.raw() + col * weight.row_bytes());
      double sum = start ? static_cast<double>(start[col]) : 0.0;
      for (int64_t k = 0; k < depth; ++k)
        sum += static_cast<double>(static_cast<float>(a.data<A>()[row * depth + k])) *
               static_cast<double>(stored_element(w, k));
      c.data<C>()[row * n + col] = C(static_cast<float>(sum));
    }
}

}  // namespace

void matmul_stored(const Tensor& a, const Tensor& weight, const Tensor& bias, Tensor& c) {
  visit_floating(a.dtype(), [&](auto in) {
    visit_stored(weight.dtype(), [&](auto stored) {
      visit_floating(c.dtype(), [&](auto out) {
        multiply_stored<decltype(in), decltype(stored), decltype(out)>(a, weight, bias, c);
      });
    });
  });
}

}  // namespace heed::kernels::reference
