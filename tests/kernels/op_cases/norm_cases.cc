#include "heed/kernels/norm.h"

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

OpCase layer_norm_case(const Tensor& host_x, int64_t skipped_rows = 0) {
  return {"layer_norm of " + std::to_string(host_x.cols()), [=] {
            const Tensor all = input(host_x), x = all.row_slice(skipped_rows, all.rows());
            Tensor y = result(x.shape(), x.dtype()), stats = result({x.rows(), 2});
            layer_norm_forward({.x = x,
                                .weight = normal_input({x.cols()}, 32),
                                .bias = normal_input({x.cols()}, 33),
                                .epsilon = 1e-5f},
                               y, stats);
            return std::vector<OpResult>{{"y", y}, {"stats", stats}};
          }};
}

OpCase rms_norm_case(const Tensor& host_x, int64_t skipped_rows = 0) {
  return {"rms_norm of " + std::to_string(host_x.cols()), [=] {
            const Tensor all = input(host_x), x = all.row_slice(skipped_rows, all.rows());
            Tensor y = result(x.shape(), x.dtype()), stats = result({x.rows(), 1});
            rms_norm_forward({.x = x, .weight = normal_input({x.cols()}, 34), .epsilon = 1e-6f}, y,
                             stats);
            return std::vector<OpResult>{{"y", y}, {"stats", stats}};
          }};
}

/// A large mean, squares beyond the range of f32, a NaN.
Tensor hard_rows(int64_t cols) {
  Tensor x = normals({4, cols}, 35);
  float* const values = x.data<float>();
  for (int64_t i = 0; i < cols; ++i) {
    values[i] += 300.0f;
    values[cols + i] *= 1e25f;
  }
  values[3 * cols - 1] = std::nanf("");
  return x;
}

const AddOpCases norm_cases([] {
  std::vector<OpCase> cases;
  // Warps with a row each, blocks of several warps, threads with several vectors and more than they
  // hold.
  for (const int64_t cols : {1, 100, 128, 1000, 4096, 8200, 20000})
    for (const DType dtype : kFloating) {
      const Tensor x = normals({cols <= 128 ? 11 : 2, cols}, 31, dtype, 3.0f);
      cases.push_back(layer_norm_case(x));
      cases.push_back(rms_norm_case(x, 1));
    }
  cases.push_back(layer_norm_case(hard_rows(77)));
  cases.push_back(rms_norm_case(hard_rows(301)));
  cases.push_back(rms_norm_case(Tensor::empty({0, 16})));
  return cases;
});

}  // namespace
}  // namespace heed::kernels
