#include "heed/kernels/rows.h"

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

TEST(Rows, CpuAgreesWithReferenceOnEveryTarget) {
  const std::vector<int32_t> rows{3, 0, 0, 4, 3, 3};
  on_every_target([&](const std::string& target) {
    for (const int64_t cols : kOddSizes)
      for (const DType dtype : kFloating) {
        const Tensor x = normals({5, cols}, 1, dtype), dy = normals({6, cols}, 2, dtype);
        Tensor fast = Tensor::empty(dy.shape(), dtype), plain = Tensor::empty(dy.shape(), dtype);
        cpu::gather_rows(x, rows, fast);
        reference::gather_rows(x, rows, plain);
        expect_close(fast, plain, target + " gathered", 0.0);
        Tensor fast_sum = x.clone(), plain_sum = x.clone();
        cpu::add_rows(dy, rows, fast_sum);
        reference::add_rows(dy, rows, plain_sum);
        expect_close(fast_sum, plain_sum, target + " added", 0.0);
      }
  });
}

TEST(Rows, DoesNotDependOnTheNumberOfThreads) {
  std::vector<int32_t> rows(500);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i * i % 50);
  const Tensor x = normals({50, 1000}, 1), dy = normals({500, 1000}, 2);
  expect_same_on_any_thread_count([&] {
    Tensor y = Tensor::empty(dy.shape()), sum = x.clone();
    gather_rows(x, rows, y);
    add_rows(dy, rows, sum);
    return std::vector<Tensor>{y, sum};
  });
}

}  // namespace
}  // namespace heed::kernels
