#include "heed/kernels/mean_rows.h"

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

const AddOpCases mean_rows_cases([] {
  std::vector<OpCase> cases;
  for (const int64_t cols : {1, 33, 300})
    cases.push_back({"means of rows of " + std::to_string(cols), [=] {
                       const std::vector<int32_t> offsets{0, 1, 8, 20};
                       const Tensor x = normal_input({20, cols}, 1);
                       Tensor y = result({3, cols}), dx = normal_input({20, cols}, 2);
                       mean_rows(x, offsets, y);
                       mean_rows_backward(y, offsets, dx);
                       return std::vector<OpResult>{{"y", y}, {"dx", dx}};
                     }});
  return cases;
});

}  // namespace
}  // namespace heed::kernels
