#include "heed/kernels/sigmoid.h"

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

const AddOpCases sigmoid_cases([] {
  std::vector<OpCase> cases;
  for (const float spread : {1.0f, 100.0f})
    cases.push_back({"sigmoid", [=] {
                       const Tensor x = normal_input({7, 33}, 1, DType::f32, spread);
                       Tensor y = result(x.shape()), dx = result(x.shape());
                       sigmoid(x, y);
                       sigmoid_backward(y, x, dx);
                       return std::vector<OpResult>{{"y", y, 0.01}, {"dx", dx, spread}};
                     }});
  return cases;
});

}  // namespace
}  // namespace heed::kernels
