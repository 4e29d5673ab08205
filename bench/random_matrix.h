#pragma once

#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Numbers between -0.5 and 0.5, of f32 or bf16: [rows, cols].
inline Tensor random_matrix(int64_t rows, int64_t cols, DType dtype = DType::f32) {
  Tensor matrix = Tensor::empty({rows, cols}, dtype);
  const CounterRandom random(1);
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < matrix.elements(); ++i)
      matrix.data<T>()[i] = T(static_cast<float>(random.uniform(static_cast<uint64_t>(i)) - 0.5));
  });
  return matrix;
}

}  // namespace heed
