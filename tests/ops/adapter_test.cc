// Low-rank updates of weights: what linear maps add for them, and their gradients.
#include "heed/ops/adapter.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/ops/linears.h"
#include "tests/base/testing.h"
#include "tests/kernels/stored_testing.h"
#include "tests/ops/gradient_check.h"

namespace heed::ops {
namespace {

using kernels::normals;
using kernels::same_bits;

Parameter matrix(const std::string& name, int64_t rows, int64_t cols, uint64_t seed) {
  Parameter parameter;
  parameter.name = name;
  parameter.shape = {rows, cols};
  parameter.value = normals(parameter.shape, seed);
  return parameter;
}

/// A frozen weight [11, 7] and two adapters of it.
struct Adapted {
  Parameter weight = matrix("weight", 11, 7, 1), bias;
  Parameter a1 = matrix("a1", 3, 7, 2), b1 = matrix("b1", 11, 3, 3);
  Parameter a2 = matrix("a2", 2, 7, 4), b2 = matrix("b2", 11, 2, 5);
  Adapter first{{{&weight, {&a1, &b1, 0.5f}}}}, second{{{&weight, {&a2, &b2, 2.0f}}}};

  Adapted() { weight.trainable = false; }
  Tensor product(const Tensor& x, std::span<const AdaptedRows> rows) const {
    Context context{.adapters = rows};
    return linear(context, x, weight, bias);
  }
};

/// x (W + factor B A)^T.
Tensor merged_product(const Adapted& m, const Tensor& x, const LowRankUpdate& update) {
  Parameter merged = m.weight;
  merged.value = m.weight.value.clone();
  for (int64_t o = 0; o < 11; ++o)
    for (int64_t i = 0; i < 7; ++i)
      for (int64_t r = 0; r < update.a->shape[0]; ++r)
        merged.value.data<float>()[o * 7 + i] +=
            update.scale * update.b->value.data<float>()[o * update.a->shape[0] + r] *
            update.a->value.data<float>()[r * 7 + i];
  Context context;
  return linear(context, x, merged, m.bias);
}

void expect_near(const Tensor& found, const Tensor& expected) {
  for (int64_t i = 0; i < found.elements(); ++i)
    EXPECT_NEAR(found.data<float>()[i], expected.data<float>()[i], 1e-4) << i;
}

TEST(LowRankUpdates, PackedMatricesGiveTheSameBits) {
  Adapted m;
  const Tensor x = normals({5, 7}, 6);
  const ScaledAdapter one{&m.first};
  const AdaptedRows rows = all_rows({&one, 1});
  const Tensor plain = m.product(x, {&rows, 1});
  LowRankUpdate& update = m.first.updates.at(&m.weight);
  update.packed_a = kernels::pack({m.a1.value, true});
  update.packed_b = kernels::pack({m.b1.value, true});
  EXPECT_TRUE(same_bits(m.product(x, {&rows, 1}), plain));
  EXPECT_FALSE(same_bits(m.product(x, {}), plain));
}

TEST(LowRankUpdates, AddToTheProductWhatTheMergedWeightWould) {
  const Adapted m;
  const Tensor x = normals({5, 7}, 9);
  const std::vector<ScaledAdapter> one{{&m.first}};
  expect_near(m.product(x, std::vector{all_rows(one)}),
              merged_product(m, x, m.first.updates.at(&m.weight)));
}

TEST(LowRankUpdates, GiveARowTheBitsThatItHasAlone) {
  const Adapted m;
  const Tensor x = normals({9, 7}, 9);
  const std::vector<ScaledAdapter> none, one{{&m.first}}, two{{&m.second, 0.25f}},
      both{{&m.first}, {&m.second}};
  const std::vector<AdaptedRows> ranges{{0, 2, one}, {2, 3, none}, {3, 7, both}, {7, 9, two}};
  const Tensor all = m.product(x, ranges);
  for (const AdaptedRows& range : ranges)
    for (int64_t row = range.begin; row < range.end; ++row)
      EXPECT_TRUE(same_bits(
          m.product(x.row_slice(row, row + 1).clone(), std::vector{all_rows(range.adapters)}),
          all.row_slice(row, row + 1).clone()))
          << row;
  EXPECT_TRUE(same_bits(m.product(x, std::vector{all_rows(none)}), m.product(x, {})));
}

TEST(LowRankUpdates, FollowTheRowsThatAnOpSelects) {
  const Adapted m;
  const Tensor x = normals({9, 7}, 9);
  const std::vector<ScaledAdapter> one{{&m.first}}, two{{&m.second}};
  const std::vector<AdaptedRows> ranges{{0, 4, one}, {6, 9, two}};
  const Tensor all = m.product(x, ranges);
  const std::vector<int32_t> rows{1, 3, 5, 6, 8};
  Context context{.adapters = ranges};
  const Tensor some = [&] {
    const SelectedRows selected(context, rows);
    Tensor own = Tensor::empty({5, 7});
    for (int64_t i = 0; i < 5; ++i)
      std::memcpy(own.raw() + i * own.row_bytes(),
                  x.raw() + rows[static_cast<size_t>(i)] * x.row_bytes(),
                  static_cast<size_t>(x.row_bytes()));
    return linear(context, own, m.weight, m.bias);
  }();
  for (int64_t i = 0; i < 5; ++i) {
    const int64_t row = rows[static_cast<size_t>(i)];
    EXPECT_TRUE(same_bits(some.row_slice(i, i + 1).clone(), all.row_slice(row, row + 1).clone()))
        << row;
  }
  EXPECT_EQ(context.adapters.size(), 2u);
}

TEST(LowRankUpdates, AreTheSameForSeveralMapsOfOneInput) {
  const Adapted m;
  const Tensor x = normals({5, 7}, 9);
  const std::vector<ScaledAdapter> one{{&m.first}};
  const std::vector<AdaptedRows> ranges{all_rows(one)};
  Context context{.adapters = ranges};
  const auto [y, z] = linears(context, x, {{m.weight, m.bias}, {m.weight, m.bias}});
  EXPECT_TRUE(same_bits(y, m.product(x, ranges)));
  EXPECT_TRUE(same_bits(z, y));
}

TEST(LowRankUpdates, HaveTheGradientsOfFiniteDifferences) {
  for (const float rate : {0.0f, 0.4f}) {
    Adapted m;
    m.first.dropout = m.second.dropout = rate;
    const Tensor x = normals({6, 7}, 9);
    const std::vector<ScaledAdapter> one{{&m.first}}, both{{&m.first}, {&m.second, 0.5f}};
    const std::vector<AdaptedRows> ranges{{0, 2, one}, {3, 6, both}};
    testing::check_op(
        [&](Context& context) {
          context.adapters = ranges;
          return linear(context, x, m.weight, m.bias);
        },
        {testing::input("x", x), testing::parameter(m.a1), testing::parameter(m.b1),
         testing::parameter(m.a2), testing::parameter(m.b2)});
  }
}

TEST(LowRankUpdates, NameAMatrixThatDoesNotFitTheWeight) {
  Adapted m;
  m.b1 = matrix("b1", 12, 3, 3);
  const std::vector<ScaledAdapter> one{{&m.first}};
  for (const char* part : {"weight", "b1", "[12, 3]", "[11, 3]"})
    expect_error([&] { m.product(normals({5, 7}, 9), std::vector{all_rows(one)}); }, part);
}

}  // namespace
}  // namespace heed::ops
