#include "heed/kernels/pool_rows.h"

#include "heed/kernels/rows.h"
#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

const std::vector<int32_t> kOffsets{0, 1, 8, 20};

const AddOpCases sum_rows_cases([] {
  std::vector<OpCase> cases;
  for (const int64_t cols : {1, 33, 300})
    cases.push_back({"sums of rows of " + std::to_string(cols), [=] {
                       const Tensor x = normal_input({20, cols}, 1);
                       std::vector<float> weights;
                       for (int n = 0; n < 20; ++n) weights.push_back(0.1f * static_cast<float>(n));
                       Tensor y = result({3, cols}), dx = normal_input({20, cols}, 2);
                       sum_rows(x, kOffsets, weights, y);
                       sum_rows_backward(y, kOffsets, weights, dx);
                       return std::vector<OpResult>{{"y", y}, {"dx", dx}};
                     }});
  return cases;
});

const AddOpCases max_rows_cases([] {
  std::vector<OpCase> cases;
  for (const int64_t cols : {1, 33, 300})
    cases.push_back({"maxima of rows of " + std::to_string(cols), [=] {
                       const std::vector<int32_t> twice{0, 0, 1, 1, 2, 2, 3, 3, 4, 4,
                                                        5, 5, 6, 6, 7, 7, 8, 8, 9, 9};
                       Tensor x = result({20, cols});
                       gather_rows(normal_input({10, cols}, 1), twice, x);  // of equal rows, too
                       Tensor y = result({3, cols}), dx = normal_input({20, cols}, 2);
                       max_rows(x, kOffsets, y);
                       max_rows_backward(x, y, normal_input({3, cols}, 3), kOffsets, dx);
                       return std::vector<OpResult>{{"y", y}, {"dx", dx}};
                     }});
  return cases;
});

}  // namespace
}  // namespace heed::kernels
