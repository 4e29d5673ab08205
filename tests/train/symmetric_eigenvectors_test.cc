#include "heed/train/optimizers/symmetric_eigenvectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "heed/base/error.h"
#include "tests/base/testing.h"
#include "tests/train/matrices.h"

namespace heed::train {
namespace {

using testing::expect_orthonormal_rows;
using testing::product;
using testing::random_matrix;

/// Checks the eigenvectors of a matrix, and returns its eigenvalues.
std::vector<double> checked_eigenvalues(const Tensor& matrix) {
  const int64_t size = matrix.rows();
  Tensor vectors = Tensor::empty(matrix.shape());
  symmetric_eigenvectors(matrix, vectors);
  expect_orthonormal_rows(vectors, 2e-6f);
  float largest = 0;
  for (const float x : matrix.values<float>()) largest = std::max(largest, std::abs(x));
  const float tolerance = 2e-6f * largest * static_cast<float>(std::sqrt(size));
  const Tensor images = product({vectors}, {matrix});
  std::vector<double> eigenvalues;
  for (int64_t i = 0; i < size; ++i) {
    const float *const v = vectors.data<float>() + i * size, *const image =
                                                                 images.data<float>() + i * size;
    double eigenvalue = 0;
    for (int64_t j = 0; j < size; ++j) eigenvalue += static_cast<double>(v[j]) * image[j];
    for (int64_t j = 0; j < size; ++j)
      EXPECT_NEAR(image[j], eigenvalue * v[j], tolerance) << "vector " << i << " of " << size;
    EXPECT_TRUE(i == 0 || eigenvalue <= eigenvalues.back() + tolerance) << "vector " << i;
    eigenvalues.push_back(eigenvalue);
  }
  return eigenvalues;
}

TEST(SymmetricEigenvectors, OfTwoRowsAreThoseOfTheFormula) {
  const std::vector<double> found =
      checked_eigenvalues(Tensor::of({2, 2}, std::array{2.0f, 1.0f, 1.0f, 2.0f}));
  EXPECT_NEAR(found[0], 3, 1e-6);
  EXPECT_NEAR(found[1], 1, 1e-6);
}

TEST(SymmetricEigenvectors, OfSecondDifferencesHaveTheEigenvaluesOfTheFormula) {
  constexpr int64_t kSize = 60;
  Tensor matrix = Tensor::zeros({kSize, kSize});
  for (int64_t i = 0; i < kSize; ++i) {
    matrix.data<float>()[i * kSize + i] = 2;
    if (i == 0) continue;
    matrix.data<float>()[i * kSize + i - 1] = matrix.data<float>()[(i - 1) * kSize + i] = -1;
  }
  const std::vector<double> found = checked_eigenvalues(matrix);
  for (int64_t i = 0; i < kSize; ++i) {
    const double angle = std::numbers::pi * static_cast<double>(kSize - i) / (kSize + 1);
    EXPECT_NEAR(found[static_cast<size_t>(i)], 2 - 2 * std::cos(angle), 1e-5);
  }
}

TEST(SymmetricEigenvectors, DiagonalizeProductsOfAnyRank) {
  for (const int64_t size : {1, 2, 3, 4, 7, 40, 129})
    for (const int64_t rank : {int64_t{1}, size / 2, size, 2 * size}) {
      if (rank == 0) continue;
      const Tensor x = random_matrix({size, rank}, static_cast<uint64_t>(size * 1000 + rank));
      const std::vector<double> found = checked_eigenvalues(product({x}, {x, true}));
      for (int64_t i = rank; i < size; ++i)
        EXPECT_NEAR(found[static_cast<size_t>(i)], 0, 1e-5 * found[0])
            << "vector " << i << " of " << size << " with rank " << rank;
    }
}

TEST(SymmetricEigenvectors, OfEqualEigenvaluesAreABasis) {
  for (const float value : {0.0f, 1.0f, -3.0f, 1e-30f, 1e30f}) {
    Tensor matrix = Tensor::zeros({30, 30});
    for (int64_t i = 0; i < 30; ++i) matrix.data<float>()[i * 31] = value;
    for (const double found : checked_eigenvalues(matrix))
      EXPECT_FLOAT_EQ(static_cast<float>(found), value);
  }
  checked_eigenvalues(Tensor::full({30, 30}, 2.0f));
}

TEST(SymmetricEigenvectors, OfGradedMatricesConverge) {
  for (const bool rising : {false, true}) {
    Tensor matrix = random_matrix({40, 40}, 5);
    Tensor square = product({matrix}, {matrix, true});
    for (int64_t i = 0; i < 40; ++i)
      for (int64_t j = 0; j < 40; ++j) {
        const auto power = static_cast<float>(rising ? i + j : 78 - i - j);
        square.data<float>()[i * 40 + j] *= std::pow(0.5f, power);
      }
    checked_eigenvalues(square);
  }
}

TEST(SymmetricEigenvectors, OfAMatrixThatIsNotFiniteAreAnError) {
  for (const float value : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    Tensor matrix = Tensor::zeros({4, 4}), vectors = Tensor::empty({4, 4});
    matrix.data<float>()[5] = value;
    expect_error([&] { symmetric_eigenvectors(matrix, vectors); }, "it has no eigenvectors");
  }
}

}  // namespace
}  // namespace heed::train
