#include "heed/kernels/relative_bias.h"

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

OpCase relative_bias_case(int64_t buckets, int64_t n_heads, int64_t columns) {
  std::vector<int32_t> rows;  // some of them several times, in no order
  for (int64_t c = 0; c < columns; ++c) rows.push_back(static_cast<int32_t>(c * c % buckets));
  return {"relative_bias of " + std::to_string(n_heads) + " heads and " + std::to_string(columns) +
              " distances",
          [=] {
            Tensor y = result({n_heads, columns});
            relative_bias_forward(normal_input({buckets, n_heads}, 91), rows, y);
            Tensor d_table = normal_input({buckets, n_heads}, 92);
            relative_bias_backward(normal_input({n_heads, columns}, 93), rows, d_table);
            return std::vector<OpResult>{{"y", y, 0.0},
                                         {"d_table", d_table, static_cast<double>(columns)}};
          },
          true};
}

const AddOpCases relative_bias_cases([] {
  return std::vector<OpCase>{relative_bias_case(32, 6, 59), relative_bias_case(4, 1, 1),
                             relative_bias_case(300, 3, 1023)};
});

}  // namespace
}  // namespace heed::kernels
