#include "heed/ops/sparse_gradient.h"

#include <gtest/gtest.h>

#include "heed/ops/gradient.h"
#include "heed/ops/parameter.h"
#include "heed/ops/tape.h"

namespace heed {
namespace {

std::vector<float> values_of(const SparseGradient& rows) {
  const auto values = rows.values().values<float>();
  return {values.begin(), values.end()};
}

/// Rows 7, 2 and 7 with two columns.
SparseGradient example() {
  SparseGradient rows;
  rows.add(std::array{7, 2, 7}, Tensor::of({3, 2}, std::array{1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}),
           2.0f);
  return rows;
}

TEST(SparseGradient, HoldsTheRowsThatWereLookedUpInOrder) {
  const SparseGradient rows = example();
  EXPECT_EQ(rows.rows(), (std::vector{2, 7}));
  EXPECT_EQ(values_of(rows), (std::vector{6.0f, 8.0f, 12.0f, 16.0f}));
}

TEST(SparseGradient, AddsRowsThatItHasAndOthers) {
  SparseGradient rows = example(), other;
  other.add(std::array{9, 2}, Tensor::of({2, 2}, std::array{10.0f, 20.0f, 30.0f, 40.0f}), 1.0f);
  rows.add(other);
  EXPECT_EQ(rows.rows(), (std::vector{2, 7, 9}));
  EXPECT_EQ(values_of(rows), (std::vector{36.0f, 48.0f, 12.0f, 16.0f, 10.0f, 20.0f}));
  rows.add(SparseGradient());
  EXPECT_EQ(rows.rows().size(), 3u);
  SparseGradient empty;
  empty.add(other);
  EXPECT_EQ(empty.rows(), other.rows());
  EXPECT_EQ(values_of(empty), values_of(other));
}

TEST(SparseGradient, GivesTheRowsOfARange) {
  const SparseGradient rows = example();
  EXPECT_EQ(rows.between(0, 7).rows(), std::vector{2});
  EXPECT_EQ(values_of(rows.between(0, 7)), (std::vector{6.0f, 8.0f}));
  EXPECT_EQ(rows.between(3, 100).rows(), std::vector{7});
  EXPECT_EQ(rows.between(2, 8).rows().size(), 2u);
  EXPECT_TRUE(rows.between(3, 7).rows().empty());
  EXPECT_TRUE(SparseGradient().between(0, 7).rows().empty());
}

/// Counts what it is told.
class Counts : public GradientHook {
 public:
  void before_use(const Parameter&, DType) override { ++uses; }
  void before_lookup(const Parameter&, DType) override { ++lookups; }
  void gradient_complete(const Parameter&) override { ++complete; }
  int uses = 0, lookups = 0, complete = 0;
};

TEST(SparseGradient, IsApartFromTheRestOfAGradientWhereThatIsAskedFor) {
  const std::vector<Parameter> tables{{.name = "table",
                                       .shape = {9, 2},
                                       .place = {},
                                       .value = Tensor::zeros({9, 2}),
                                       .working = {},
                                       .packed = {}}};
  const Tensor dy = Tensor::full({1, 2}, 3.0f);
  for (const bool apart : {false, true}) {
    Gradients gradients(tables);
    if (apart) gradients.keep_sparse(tables[0]);
    Counts told;
    Tape tape(gradients, &told);
    tape.look_up(tables[0]);
    tape.add_rows(tables[0], std::array{4}, dy, 1.0f);
    tape.backward();
    EXPECT_EQ(told.uses, apart ? 0 : 1);
    EXPECT_EQ(told.lookups, apart ? 1 : 0);
    EXPECT_EQ(told.complete, apart ? 0 : 1);
    EXPECT_EQ(gradients.of(tables[0]).tensor().defined(), !apart);
    ASSERT_EQ(gradients.sparse(tables[0]) != nullptr, apart);
    if (!apart) continue;
    EXPECT_EQ(gradients.sparse(tables[0])->rows(), std::vector{4});
    gradients.set_zero();
    EXPECT_TRUE(gradients.sparse(tables[0])->rows().empty());
  }
}

}  // namespace
}  // namespace heed
