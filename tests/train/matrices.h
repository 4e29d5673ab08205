#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "heed/base/random.h"
#include "heed/kernels/matmul.h"
#include "heed/tensor/tensor.h"

namespace heed::train::testing {

/// Normally distributed elements.
inline Tensor random_matrix(const Shape& shape, uint64_t seed) {
  Tensor x = Tensor::empty(shape);
  const CounterRandom random(seed);
  for (int64_t i = 0; i < x.elements(); ++i)
    x.data<float>()[i] = static_cast<float>(random.normal(static_cast<uint64_t>(i)));
  return x;
}

inline Tensor product(const kernels::Factor& a, const kernels::Factor& b) {
  Tensor c = Tensor::empty({a.rows(), b.cols()});
  kernels::matmul(a, b, {}, c);
  return c;
}

inline void expect_orthonormal_rows(const Tensor& x, float tolerance) {
  const Tensor gram = product({x}, {x, true});
  for (int64_t row = 0; row < x.rows(); ++row)
    for (int64_t col = 0; col < x.rows(); ++col)
      ASSERT_NEAR(gram.data<float>()[row * x.rows() + col], row == col ? 1.0f : 0.0f, tolerance)
          << "rows " << row << " and " << col << " of " << x.rows();
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0;
}

}  // namespace heed::train::testing
