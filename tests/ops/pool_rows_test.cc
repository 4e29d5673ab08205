#include "heed/ops/pool_rows.h"

#include "heed/base/error.h"
#include "tests/ops/gradient_check.h"

namespace heed {
namespace {

using testing::check_op;
using testing::input;
using testing::random_tensor;

const std::vector<int32_t> kOffsets{0, 1, 4, 9};

TEST(PoolRows, SumsMeansAndMaximaHaveTheirGradients) {
  const Tensor x = random_tensor({9, 5}, 3);
  std::vector<float> weights;
  for (int n = 0; n < 9; ++n) weights.push_back(0.25f * static_cast<float>(n - 3));
  check_op([&](Context& context) { return ops::sum_rows(context, x, kOffsets, weights); },
           {input("x", x)});
  check_op([&](Context& context) { return ops::mean_rows(context, x, kOffsets); }, {input("x", x)});
  // Too small a step for another row to become the largest.
  check_op([&](Context& context) { return ops::max_rows(context, x, kOffsets); }, {input("x", x)},
           1e-3, 1e-3);
}

TEST(PoolRows, TheFirstOfEqualRowsHasTheGradient) {
  Tape tape;
  Context context{.tape = &tape};
  const Tensor x = Tensor::of({3, 1}, std::vector<float>{1, 2, 2});
  const Tensor y = ops::max_rows(context, x, {0, 3});
  EXPECT_EQ(y.data<float>()[0], 2);
  tape.add(y, Tensor::of({1, 1}, std::vector<float>{5}));
  tape.backward();
  const Tensor dx = tape.take(x);
  EXPECT_EQ(std::vector<float>(dx.data<float>(), dx.data<float>() + 3),
            (std::vector<float>{0, 5, 0}));
}

TEST(PoolRows, RefuseRowsOutsideAndOtherNumbersOfWeights) {
  Context context;
  const Tensor x = random_tensor({3, 2}, 3);
  EXPECT_THROW(ops::max_rows(context, x, {0, 4}), Error);
  EXPECT_THROW(ops::mean_rows(context, x, {0, 0, 3}), Error);
  EXPECT_THROW(ops::sum_rows(context, x, {0, 3}, {1, 1}), Error);
}

}  // namespace
}  // namespace heed
