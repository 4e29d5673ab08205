#include "heed/kernels/elementwise.h"

#include "heed/kernels/dropout.h"
#include "heed/kernels/soft_cap.h"
#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

OpCase pair_case(DType of_x, DType of_y, int64_t count) {
  return {
      "add_to and convert of " + std::string(name_of(of_x)) + " to " + std::string(name_of(of_y)),
      [=] {
        const Tensor x = normal_input({count}, 51, of_x);
        Tensor sum = normal_input({count}, 52, of_y), converted = result({count}, of_y);
        add_to(x, sum);
        scale(0.3f, sum);
        convert(x, converted);
        return std::vector<OpResult>{{"sum", sum}, {"converted", converted}};
      },
      true};
}

OpCase dropout_case(DType dtype, float rate, bool added) {
  return {"dropout of " + std::string(name_of(dtype)),
          [=] {
            const Tensor x = normal_input({5, 203}, 53, dtype);
            const Tensor residual = added ? normal_input({5, 203}, 54, dtype) : Tensor();
            Tensor y = result(x.shape(), dtype);
            dropout_add_forward(x, residual, {.rate = rate, .key = 0x123456789abcdef}, y);
            return std::vector<OpResult>{{"y", y}};
          },
          rate == 0.0f};
}

const AddOpCases elementwise_cases([] {
  std::vector<OpCase> cases;
  for (const DType of_x : kFloating) {
    for (const DType of_y : kFloating)
      for (const int64_t count : {0, 3, 1024, 3001}) cases.push_back(pair_case(of_x, of_y, count));
    for (const bool added : {false, true})
      for (const float rate : {0.0f, 0.3f}) cases.push_back(dropout_case(of_x, rate, added));
  }
  cases.push_back({"soft_cap", [] {
                     Tensor x = normal_input({3, 701}, 55, DType::f32, 40.0f);
                     soft_cap(30.0f, x);
                     return std::vector<OpResult>{{"x", x}};
                   }});
  cases.push_back({"sum_of_all_squares", [] {
                     const Tensor all = normal_input({70001}, 56);
                     const Tensor tensors[] = {normal_input({3, 5}, 57), Tensor(), all,
                                               all.reshaped({70001, 1}).row_slice(1, 4)};
                     const auto sum = static_cast<float>(sum_of_all_squares(tensors));
                     return std::vector<OpResult>{{"sum", Tensor::of({1}, std::vector{sum})}};
                   }});
  return cases;
});

}  // namespace
}  // namespace heed::kernels
