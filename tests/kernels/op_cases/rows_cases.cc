#include "heed/kernels/rows.h"

#include "heed/kernels/columns.h"
#include "heed/kernels/embedding.h"
#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

const std::vector<int32_t> kRows{3, 0, 6, 3, 3, 5, 0};

OpCase gather_case(int64_t cols, DType dtype) {
  return {"gather_rows of " + std::to_string(cols),
          [=] {
            const Tensor x = normal_input({7, cols}, 61, dtype);
            Tensor y = result({7, cols}, dtype);
            gather_rows(x, kRows, y);
            return std::vector<OpResult>{{"y", y}};
          },
          true};
}

OpCase add_rows_case(int64_t cols, DType dtype) {
  return {"add_rows of " + std::to_string(cols),
          [=] {
            const Tensor x = normal_input({7, cols}, 68, dtype);
            Tensor y = normal_input({8, cols}, 69, dtype);
            add_rows(x, kRows, y);
            return std::vector<OpResult>{{"y", y}};
          },
          true};
}

OpCase embedding_case(int64_t cols, DType dtype, bool positions) {
  return {"embedding of " + std::to_string(cols), [=] {
            const Tensor table = normal_input({7, cols}, 63, dtype);
            const Tensor places = positions ? normal_input({9, cols}, 64) : Tensor();
            Tensor y = result({7, cols}, dtype);
            embedding_forward({.tokens = kRows,
                               .positions = std::vector<int32_t>{8, 0, 1, 2, 2, 7, 4},
                               .table = table,
                               .position_table = places,
                               .scale = 1.7f},
                              y);
            return std::vector<OpResult>{{"y", y}};
          }};
}

OpCase columns_case(const ColumnsOptions& options, DType dtype) {
  return {"columns of " + std::to_string(options.width), [=] {
            const Tensor x = normal_input({5, 240}, 65, dtype);
            Tensor y = normal_input({5, 288}, 66, dtype), sums = normal_input({5, 72}, 67, dtype);
            ColumnsOptions summed = options;
            summed.to = {.begin = 1};
            copy_columns(x, options, y);
            sum_heads(x, summed, sums);
            return std::vector<OpResult>{{"y", y}, {"sums", sums}};
          }};
}

const AddOpCases rows_cases([] {
  std::vector<OpCase> cases;
  for (const DType dtype : kFloating) {
    for (const int64_t cols : {1, 6, 64, 1040}) {
      cases.push_back(gather_case(cols, dtype));
      cases.push_back(add_rows_case(cols, dtype));
      cases.push_back(embedding_case(cols, dtype, false));
      cases.push_back(embedding_case(cols, dtype, true));
    }
    for (const bool accumulate : {false, true}) {
      cases.push_back(columns_case({.n_heads = 3,
                                    .width = 64,
                                    .from = {.begin = 16, .stride = 72},
                                    .to = {.begin = 8, .stride = 80},
                                    .accumulate = accumulate},
                                   dtype));
      cases.push_back(columns_case({.n_heads = 4,
                                    .width = 33,
                                    .from = {.begin = 1, .stride = 0},
                                    .to = {.begin = 7, .stride = 35},
                                    .accumulate = accumulate},
                                   dtype));
    }
  }
  return cases;
});

}  // namespace
}  // namespace heed::kernels
