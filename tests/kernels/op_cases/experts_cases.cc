#include "heed/kernels/experts.h"

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

OpCase combine_case(int64_t cols, DType dtype) {
  return {"combine_experts of " + std::to_string(cols), [=] {
            const Tensor outputs[] = {normal_input({2, cols}, 73, dtype), Tensor(),
                                      normal_input({3, cols}, 74, dtype),
                                      normal_input({1, cols}, 75, dtype)};
            const std::vector<int32_t> experts{0, 2, 2, 3, 0, 2}, rows{0, 1, 2, 0, 1, 0};
            Tensor y = result({3, cols}, dtype);
            combine_experts_forward({.outputs = outputs,
                                     .experts = experts,
                                     .rows = rows,
                                     .weights = normal_input({3, 2}, 76)},
                                    y);
            return std::vector<OpResult>{{"y", y}};
          }};
}

const AddOpCases experts_cases([] {
  std::vector<OpCase> cases;
  for (const DType dtype : kFloating)
    for (const int64_t cols : {1, 96, 1030}) cases.push_back(combine_case(cols, dtype));
  return cases;
});

}  // namespace
}  // namespace heed::kernels
