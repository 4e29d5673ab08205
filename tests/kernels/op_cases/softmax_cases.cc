#include "heed/kernels/softmax.h"

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

const AddOpCases softmax_cases([] {
  std::vector<OpCase> cases;
  for (const int64_t cols : {1, 31, 1000})
    for (const DType dtype : kFloating)
      cases.push_back({"softmax of " + std::to_string(cols), [=] {
                         const Tensor x = normal_input({3, cols}, 30, dtype, 4.0f);
                         Tensor y = result(x.shape(), dtype);
                         softmax_forward(x, y);
                         return std::vector<OpResult>{{"y", y, 0.1 / static_cast<double>(cols)}};
                       }});
  return cases;
});

}  // namespace
}  // namespace heed::kernels
