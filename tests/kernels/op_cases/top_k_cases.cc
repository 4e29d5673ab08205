#include "heed/kernels/top_k.h"

#include <limits>

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Rows of normal numbers, of few different ones, of zeros of both signs, and with infinities and
/// NaN.
Tensor rows_for_top_k(int64_t cols) {
  Tensor x = normals({6, cols}, 77);
  float* const values = x.data<float>();
  for (int64_t i = 0; i < cols; ++i) {
    values[cols + i] = std::round(values[cols + i]);
    values[2 * cols + i] = i % 3 == 0 ? -0.0f : 0.0f;
    values[3 * cols + i] = i % 7 == 2 ? kInfinity : -kInfinity;
  }
  values[4 * cols] = values[6 * cols - 1] = std::nanf("");
  return x;
}

OpCase top_k_case(int64_t cols, int64_t k) {
  const Tensor host = rows_for_top_k(cols);
  return {"top_" + std::to_string(k) + " of " + std::to_string(cols), [=] {
            Tensor values = result({6, k}), indices = result({6, k}, DType::i32);
            top_k(input(host), k, values, indices);
            return std::vector<OpResult>{{"values", values, 0.0}, {"indices", indices}};
          }};
}

const AddOpCases top_k_cases([] {
  std::vector<OpCase> cases;
  for (const int64_t cols : {1, 50, 1001, 4096})
    for (const int64_t k : {1, 9, 64}) cases.push_back(top_k_case(cols, k));
  for (const int64_t k : {1, 64}) cases.push_back(top_k_case(9003, k));
  cases.push_back(top_k_case(140000, 5));  // more parts than lanes
  return cases;
});

}  // namespace
}  // namespace heed::kernels
