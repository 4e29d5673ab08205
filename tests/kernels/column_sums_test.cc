#include "heed/kernels/column_sums.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"

namespace heed::kernels {
namespace {

TEST(ColumnSums, CpuAgreesWithReferenceAndAdds) {
  for (const int64_t rows : {0, 1, 5, 300}) {
    for (const int64_t cols : {1, 17, 64, 200}) {
      Tensor x = Tensor::empty({rows, cols});
      const CounterRandom random(7);
      for (int64_t i = 0; i < x.elements(); ++i)
        x.data<float>()[i] = static_cast<float>(random.normal(static_cast<uint64_t>(i)));
      Tensor fast = Tensor::full({cols}, 2.0f);
      Tensor plain = Tensor::full({cols}, 2.0f);
      cpu::column_sums(x, fast);
      reference::column_sums(x, plain);
      for (int64_t d = 0; d < cols; ++d)
        EXPECT_NEAR(fast.data<float>()[d], plain.data<float>()[d], 1e-4) << rows << "x" << cols;
    }
  }
}

}  // namespace
}  // namespace heed::kernels
