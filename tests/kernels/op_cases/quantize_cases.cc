#include "heed/kernels/quantize.h"

#include "tests/kernels/op_cases/stored_input.h"

namespace heed::kernels {
namespace {

const AddOpCases quantize_cases([] {
  std::vector<OpCase> cases;
  for (const DType dtype : kStored)
    for (const int64_t cols : {256, 21, 768}) {
      if (cols % block_elements(dtype)) continue;
      const auto add = [&](const std::string& name, const auto& run) {
        cases.push_back({.name = name + " of " + std::string(name_of(dtype)) + ", " +
                                 std::to_string(cols) + " columns",
                         .run =
                             [=] {
                               const Tensor x = stored_input({5, cols}, dtype, 3);
                               return std::vector<OpResult>{{"y", run(x)}};
                             },
                         .same_bits = true});
      };
      add("dequantize", [](const Tensor& x) {
        Tensor y = result(x.shape());
        dequantize(x, y);
        return y;
      });
      add("dequantize_rows", [](const Tensor& x) {
        const std::vector<int32_t> rows{4, 0, 4};
        Tensor y = result({3, x.cols()});
        dequantize_rows(x, rows, y);
        return y;
      });
    }
  return cases;
});

}  // namespace
}  // namespace heed::kernels
