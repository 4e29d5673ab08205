#include "heed/train/optimizers/orthonormal_rows.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/elementwise.h"
#include "tests/base/threads.h"
#include "tests/train/matrices.h"

namespace heed::train {
namespace {

using testing::expect_orthonormal_rows;
using testing::product;
using testing::random_matrix;

/// The sizes around one, two and several blocks of reflections.
constexpr int64_t kSizes[] = {1, 2, 3, 5, 31, 32, 33, 64, 65, 100, 150};

Tensor orthonormal_rows_of(const Tensor& x) {
  Tensor work = x.clone(), q = Tensor::empty(x.shape());
  orthonormal_rows(work, q);
  return q;
}

/// Row i of x has no component along a later row than row i of q.
void expect_same_spans(const Tensor& x, const Tensor& q) {
  const Tensor lower = product({x}, {q, true});
  const auto norm = static_cast<float>(std::sqrt(kernels::sum_of_squares(x)));
  for (int64_t row = 0; row < x.rows(); ++row)
    for (int64_t col = row + 1; col < x.rows(); ++col)
      ASSERT_NEAR(lower.data<float>()[row * x.rows() + col], 0.0f, 1e-6f * norm)
          << "row " << row << " column " << col << " of " << x.rows();
}

TEST(OrthonormalRows, SpanWhatTheFirstRowsSpan) {
  for (const int64_t size : kSizes) {
    const Tensor x = random_matrix({size, size}, static_cast<uint64_t>(size));
    const Tensor q = orthonormal_rows_of(x);
    expect_orthonormal_rows(q, 2e-6f);
    expect_same_spans(x, q);
  }
}

TEST(OrthonormalRows, CompleteTheBasisWhereRowsAreDependent) {
  for (const int64_t size : kSizes) {
    Tensor x = random_matrix({size, size}, 7);
    // Rows that are zero, equal to others, and, from the middle on, combinations of five.
    x.row_slice(0, 1).fill_zero();
    std::copy_n(x.data<float>(), size, x.data<float>() + size / 3 * size);
    const int64_t rank = std::min<int64_t>(5, size);
    Tensor rest = x.row_slice(size / 2, size);
    kernels::matmul({random_matrix({size - size / 2, rank}, 8)}, {x.row_slice(0, rank)}, {}, rest);
    const Tensor q = orthonormal_rows_of(x);
    expect_orthonormal_rows(q, 2e-6f);
    expect_same_spans(x, q);
  }
}

TEST(OrthonormalRows, OfZerosAreTheIdentity) {
  const Tensor q = orthonormal_rows_of(Tensor::zeros({40, 40}));
  for (int64_t i = 0; i < q.elements(); ++i) EXPECT_EQ(q.data<float>()[i], i % 41 == 0 ? 1.0f : 0);
}

TEST(OrthonormalRows, DoNotDependOnTheScale) {
  for (const float scale : {1e-30f, 1e30f}) {
    Tensor x = random_matrix({70, 70}, 9);
    const Tensor expected = orthonormal_rows_of(x);
    kernels::scale(scale, x);
    const Tensor q = orthonormal_rows_of(x);
    expect_orthonormal_rows(q, 2e-6f);
    for (int64_t i = 0; i < q.elements(); ++i)
      ASSERT_NEAR(q.data<float>()[i], expected.data<float>()[i], 1e-4f) << scale;
  }
}

TEST(OrthonormalRows, HaveTheSameBitsOnAnyNumberOfThreads) {
  const Tensor x = random_matrix({300, 300}, 10);
  Tensor q;
  for (const int count : {1, 2, 3}) {
    const Threads threads(count);
    const Tensor found = orthonormal_rows_of(x);
    if (count == 1) q = found;
    EXPECT_TRUE(testing::same_bits(q, found)) << count << " threads";
  }
}

}  // namespace
}  // namespace heed::train
