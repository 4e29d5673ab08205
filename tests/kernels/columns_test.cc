#include "heed/kernels/columns.h"

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

TEST(Columns, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t width : {1, 7, 16, 17, 100})
      for (const bool accumulate : {false, true})
        for (const DType dtype : kFloating) {
          ColumnsOptions options{.n_heads = 3,
                                 .width = width,
                                 .from = {.begin = 2, .stride = width + 5},
                                 .to = {.begin = 1, .stride = width + 1},
                                 .accumulate = accumulate};
          const Tensor x = normals({4, 3 * (width + 5)}, 1, dtype);
          Tensor fast = normals({4, 3 * (width + 1)}, 2, dtype), plain = fast.clone();
          cpu::copy_columns(x, options, fast);
          reference::copy_columns(x, options, plain);
          expect_close(fast, plain, target + " copied");
          options.from.stride = 0;
          cpu::copy_columns(x, options, fast);
          reference::copy_columns(x, options, plain);
          expect_close(fast, plain, target + " shared");
          options.from.stride = width + 5;
          options.to.stride = 0;
          cpu::sum_heads(x, options, fast);
          reference::sum_heads(x, options, plain);
          expect_close(fast, plain, target + " summed");
        }
  });
}

TEST(Columns, DoesNotDependOnTheNumberOfThreads) {
  const Tensor x = normals({3000, 64}, 1);
  expect_same_on_any_thread_count([&] {
    Tensor y = Tensor::zeros({3000, 96}), sum = Tensor::zeros({3000, 16});
    copy_columns(x, {.n_heads = 4, .width = 16, .from = {.stride = 16}, .to = {.stride = 24}}, y);
    sum_heads(x, {.n_heads = 4, .width = 16, .from = {.stride = 16}}, sum);
    return std::vector<Tensor>{y, sum};
  });
}

}  // namespace
}  // namespace heed::kernels
