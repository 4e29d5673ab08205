#include "heed/kernels/experts.h"
#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

/// Four tokens with two of three experts each; the middle one is not used.
std::vector<OpResult> differentiate_experts(int64_t cols, DType dtype) {
  const std::vector<int32_t> experts{0, 2, 0, 2, 0, 2, 0, 2}, rows{3, 0, 2, 1, 1, 2, 0, 3};
  const std::vector<Tensor> outputs{normal_input({4, cols}, 1, dtype), Tensor(),
                                    normal_input({4, cols}, 2, dtype)};
  std::vector<Tensor> d_outputs{result({4, cols}, dtype), Tensor(), result({4, cols}, dtype)};
  const Tensor weights = normal_input({4, 2}, 3), dy = normal_input({4, cols}, 4, dtype);
  Tensor d_weights = result({4, 2});
  combine_experts_backward({outputs, experts, rows, weights}, dy, {d_outputs, d_weights});
  return {{"d_weights", d_weights, 10.0},
          {"first d_output", d_outputs[0]},
          {"last d_output", d_outputs[2]}};
}

const AddOpCases experts_backward_cases([] {
  std::vector<OpCase> cases;
  for (const int64_t cols : {1, 17, 255})
    for (const DType dtype : kFloating)
      cases.push_back({"experts backward of " + std::to_string(cols),
                       [=] { return differentiate_experts(cols, dtype); }});
  return cases;
});

}  // namespace
}  // namespace heed::kernels
