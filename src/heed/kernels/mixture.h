#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// What the experts made of the rows that were sent to them: choice k of row n is row
/// places[n K + k] of parts[experts[n K + k]].
struct MixtureParts {
  std::span<const Tensor> parts;     // [E] of [rows, D], one dtype; undefined without rows
  std::span<const int32_t> experts;  // [N K], ascending within a row
  std::span<const int32_t> places;   // [N K]
  const Tensor& weights;             // [N, K] f32
};

/// y[n] = the sum over k of weights[n, k] times its row, in the order of k, in f32: y [N, D].
HEED_KERNEL(void, combine_forward, (const MixtureParts& in, Tensor& y), (in, y))

/// d_parts like parts; d_weights [N, K] f32, d_weights[n, k] = dy[n] . its row. All are written.
struct MixtureGradients {
  std::span<Tensor> d_parts;
  Tensor& d_weights;
};
HEED_KERNEL(void, combine_backward,
            (const MixtureParts& in, const Tensor& dy, MixtureGradients gradients),
            (in, dy, gradients))

}  // namespace heed::kernels
