#include "heed/kernels/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/kernels/elementwise.h"

namespace heed::kernels {
namespace {

Tensor random_matrix(int64_t rows, int64_t cols, DType dtype, uint64_t seed) {
  Tensor matrix = Tensor::empty({rows, cols});
  const CounterRandom random(seed);
  for (int64_t i = 0; i < matrix.elements(); ++i)
    matrix.data<float>()[i] = static_cast<float>(random.normal(static_cast<uint64_t>(i)));
  if (dtype == DType::f32) return matrix;
  Tensor narrow = Tensor::empty(matrix.shape(), dtype);
  reference::convert(matrix, narrow);
  return narrow;
}

Tensor widened(const Tensor& x) {
  Tensor wide = Tensor::empty(x.shape());
  reference::convert(x, wide);
  return wide;
}

struct Case {
  int64_t m, k, n;
  bool a_transposed, b_transposed, accumulate, bias;
  DType in, out;
};

void check(const Case& t) {
  SCOPED_TRACE(::testing::Message()
               << t.m << "x" << t.k << "x" << t.n << (t.a_transposed ? " aT" : "")
               << (t.b_transposed ? " bT" : "") << (t.accumulate ? " accumulate" : "")
               << (t.bias ? " bias " : " ") << name_of(t.in) << " to " << name_of(t.out));
  const Tensor a =
      t.a_transposed ? random_matrix(t.k, t.m, t.in, 1) : random_matrix(t.m, t.k, t.in, 1);
  const Tensor b =
      t.b_transposed ? random_matrix(t.n, t.k, t.in, 2) : random_matrix(t.k, t.n, t.in, 2);
  MatmulOptions options{.accumulate = t.accumulate};
  if (t.bias) options.bias = random_matrix(1, t.n, DType::f32, 3).reshaped({t.n});
  Tensor fast = random_matrix(t.m, t.n, t.out, 4), plain = fast.clone();
  cpu::matmul({a, t.a_transposed}, {b, t.b_transposed}, options, fast);
  reference::matmul({a, t.a_transposed}, {b, t.b_transposed}, options, plain);
  const Tensor found = widened(fast), expected = widened(plain);
  // A sum of k products of normal numbers is about sqrt(k); bf16 results keep 8 bits of it.
  const double scale = std::sqrt(static_cast<double>(t.k) + 2);
  const double tolerance = t.out == DType::f32 ? 3e-6 * scale : 0.01 * scale;
  for (int64_t i = 0; i < expected.elements(); ++i)
    ASSERT_NEAR(found.data<float>()[i], expected.data<float>()[i], tolerance) << "element " << i;

  if (t.a_transposed) return;
  Tensor packed = random_matrix(t.m, t.n, t.out, 4);
  cpu::matmul_packed(a, cpu::pack({b, t.b_transposed}), options, packed);
  EXPECT_EQ(std::memcmp(packed.raw(), fast.raw(), static_cast<size_t>(fast.bytes())), 0);
}

TEST(Matmul, AgreesWithReferenceForAllShapesAndTypes) {
  const int64_t shapes[][3] = {{1, 1, 1},    {1, 17, 33},   {3, 5, 2},
                               {14, 32, 32}, {15, 31, 65},  {17, 64, 16},
                               {33, 65, 47}, {64, 129, 96}, {100, 40, 129}};
  for (const auto& [m, k, n] : shapes)
    for (const DType in : {DType::f32, DType::bf16})
      for (const DType out : {DType::f32, DType::bf16})
        for (int flags = 0; flags < 16; ++flags)
          check({m, k, n, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0,
                 in, out});
}

TEST(Matmul, EmptySizesAreDefined) {
  check({0, 5, 4, false, false, false, true, DType::f32, DType::f32});
  for (const DType in : {DType::f32, DType::bf16}) {
    check({3, 0, 4, false, false, false, true, in, DType::f32});
    check({3, 0, 4, false, false, true, false, in, DType::f32});
  }
}

TEST(Matmul, ARowDoesNotDependOnTheOthersNorOnTheThreads) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Tensor a = random_matrix(75, 200, dtype, 1);
    const PackedMatrix b = cpu::pack({random_matrix(200, 130, dtype, 2)});
    Tensor all = Tensor::empty({75, 130});
    cpu::matmul_packed(a, b, {}, all);
    const int threads = thread_count();
    set_thread_count(threads == 1 ? 3 : 1);
    for (const int64_t row : {0, 13, 14, 31, 32, 74}) {
      Tensor one = Tensor::empty({1, 130});
      cpu::matmul_packed(a.row_slice(row, row + 1), b, {}, one);
      EXPECT_EQ(std::memcmp(one.raw(), all.row_slice(row, row + 1).raw(), 130 * sizeof(float)), 0)
          << name_of(dtype) << " row " << row;
    }
    set_thread_count(threads);
  }
}

TEST(Matmul, LargeProductsAgreeOnAnyNumberOfThreads) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Tensor a = random_matrix(700, 300, dtype, 1), b = random_matrix(300, 500, dtype, 2);
    Tensor one = Tensor::empty({700, 500}), three = Tensor::empty({700, 500});
    const int threads = thread_count();
    set_thread_count(1);
    cpu::matmul({a}, {b}, {}, one);
    set_thread_count(3);
    cpu::matmul({a}, {b}, {}, three);
    set_thread_count(threads);
    EXPECT_EQ(std::memcmp(one.raw(), three.raw(), static_cast<size_t>(one.bytes())), 0);
  }
}

}  // namespace
}  // namespace heed::kernels
