#include "heed/kernels/softmax.h"

#include <limits>

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

OpCase softmax_case(int64_t cols, DType dtype) {
  return {"softmax of " + std::to_string(cols), [=] {
            const Tensor x = normal_input({3, cols}, 30, dtype, 4.0f);
            Tensor y = result(x.shape(), dtype);
            softmax_forward(x, y);
            return std::vector<OpResult>{{"y", y, 0.1 / static_cast<double>(cols)}};
          }};
}

OpCase log_softmax_case(int64_t cols) {
  return {"log_softmax of " + std::to_string(cols), [=] {
            Tensor x = normal_input({2, cols}, 36, DType::f32, 4.0f);
            log_softmax(x, x);
            return std::vector<OpResult>{{"y", x}};
          }};
}

OpCase log_sum_exp_case(int64_t cols) {
  return {"log_sum_exp of " + std::to_string(cols), [=] {
            const Tensor x = normal_input({3, cols}, 38, DType::f32, 4.0f);
            Tensor y = result({3, 2});
            log_sum_exp(x, y);
            return std::vector<OpResult>{{"y", y}};
          }};
}

/// Rows with minus infinity: some, and nothing else; with a NaN; with infinity.
Tensor special_rows(int64_t cols) {
  Tensor x = normals({4, cols}, 37);
  float* const values = x.data<float>();
  for (int64_t i = 0; i < cols; ++i) {
    if (i % 3 > 0) values[i] = kMinusInfinity;
    values[cols + i] = kMinusInfinity;
  }
  values[3 * cols - 2] = std::nanf("");
  values[4 * cols - 1] = -kMinusInfinity;
  return x;
}

OpCase special_case(int64_t cols) {
  const Tensor host = special_rows(cols);
  return {"softmax of special values", [=] {
            const Tensor x = input(host);
            Tensor y = result(x.shape()), log = result(x.shape()), sums = result({4, 2});
            softmax_forward(x, y);
            log_softmax(x, log);
            log_sum_exp(x, sums);
            return std::vector<OpResult>{{"y", y}, {"log", log}, {"sums", sums}};
          }};
}

const AddOpCases softmax_cases([] {
  std::vector<OpCase> cases;
  for (const int64_t cols : {1, 31, 1000, 4100, 20000})
    for (const DType dtype : kFloating) cases.push_back(softmax_case(cols, dtype));
  for (const int64_t cols : {1, 301, 4096, 9001}) {
    cases.push_back(log_softmax_case(cols));
    cases.push_back(log_sum_exp_case(cols));
  }
  for (const int64_t cols : {50, 4200}) cases.push_back(special_case(cols));
  return cases;
});

}  // namespace
}  // namespace heed::kernels
