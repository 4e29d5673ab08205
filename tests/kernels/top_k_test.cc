#include "heed/kernels/top_k.h"

#include <limits>

#include "heed/kernels/argmax.h"
#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

constexpr float kLeast = -std::numeric_limits<float>::infinity();

struct TopK {
  std::vector<float> values;
  std::vector<int32_t> indices;
};

TopK top_k_of(const Tensor& x, int64_t k, Backend backend = Backend::cpu) {
  Tensor values = Tensor::empty({x.rows(), k}), indices = Tensor::empty({x.rows(), k}, DType::i32);
  const HostBackendScope scope(backend);
  top_k(x, k, values, indices);
  const auto found = values.values<float>();
  const auto places = indices.values<int32_t>();
  return {{found.begin(), found.end()}, {places.begin(), places.end()}};
}

TEST(TopK, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([&](const std::string& target) {
    for (const int64_t cols : kOddSizes)
      for (const int64_t k : {int64_t{1}, int64_t{7}, kMostTopK}) {
        Tensor x = normals({3, cols}, 80);
        for (int64_t i = 0; i < cols; ++i) x.data<float>()[i] = std::round(x.data<float>()[i]);
        const TopK fast = top_k_of(x, k), plain = top_k_of(x, k, Backend::reference);
        EXPECT_EQ(fast.indices, plain.indices) << target << ", " << cols;
        EXPECT_EQ(fast.values, plain.values) << target << ", " << cols;
      }
  });
}

TEST(TopK, TheFirstIsThatOfArgmax) {
  for (const int64_t cols : kOddSizes) {
    const Tensor x = normals({1, cols}, 81);
    EXPECT_EQ(top_k_of(x, 3).indices[0], argmax(x.values<float>()));
  }
}

TEST(TopK, TiesGoToTheFirst) {
  const TopK top = top_k_of(Tensor::of({1, 6}, std::vector{1.0f, 3.0f, 2.0f, 3.0f, 2.0f, 3.0f}), 4);
  EXPECT_EQ(top.indices, (std::vector<int32_t>{1, 3, 5, 2}));
  EXPECT_EQ(top.values, (std::vector{3.0f, 3.0f, 3.0f, 2.0f}));
}

TEST(TopK, ZerosOfBothSignsAreEqual) {
  EXPECT_EQ(top_k_of(Tensor::of({1, 3}, std::vector{-0.0f, 0.0f, -0.0f}), 3).indices,
            (std::vector<int32_t>{0, 1, 2}));
}

TEST(TopK, FillsUpShortRows) {
  const TopK top = top_k_of(Tensor::of({2, 2}, std::vector{kLeast, kLeast, 1.0f, 2.0f}), 3);
  EXPECT_EQ(top.indices, (std::vector<int32_t>{0, 1, -1, 1, 0, -1}));
  EXPECT_EQ(top.values, (std::vector{kLeast, kLeast, kLeast, 2.0f, 1.0f, kLeast}));
}

TEST(TopK, HasNoIndicesWhereThereIsANaN) {
  on_every_target([&](const std::string& target) {
    for (const Backend backend : {Backend::cpu, Backend::reference})
      for (const int64_t wrong : {0, 1, 64, 200, 255}) {
        Tensor x = normals({1, 256}, 82);
        x.data<float>()[wrong] = std::nanf("");
        const TopK top = top_k_of(x, 2, backend);
        EXPECT_EQ(top.indices, (std::vector<int32_t>{-1, -1})) << target << ", " << wrong;
        EXPECT_TRUE(std::isnan(top.values[0]) && std::isnan(top.values[1]));
      }
  });
}

TEST(TopK, SameOnAnyThreadCount) {
  const Tensor x = normals({40, 5000}, 83);
  expect_same_on_any_thread_count([&] {
    Tensor values = Tensor::empty({40, 5}), indices = Tensor::empty({40, 5}, DType::i32);
    top_k(x, 5, values, indices);
    return std::vector{values, indices};
  });
}

}  // namespace
}  // namespace heed::kernels
