#pragma once

#include <cstdint>
#include <string_view>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// Which two columns of r make pair c, c < r / 2: neighbours (2c, 2c + 1), as the papers write it,
/// or one of each half (c, c + r / 2), as most checkpoints have it.
enum class PairLayout { interleaved, halves };

/// "interleaved" or "halves".
constexpr std::string_view name_of(PairLayout layout) {
  return layout == PairLayout::interleaved ? "interleaved" : "halves";
}

/// By what angle every token's pairs are rotated: cosines and sines [N, r / 2] f32.
struct Rotation {
  Tensor cos, sin;
};

struct RotateOptions {
  int64_t n_heads = 1;
  PairLayout layout = PairLayout::halves;
  /// The columns [begin, begin + r) of every head are rotated; the others stay as they are.
  int64_t begin = 0;
};

/// Rotary positions (Su et al. 2021): x [N, H d] -> y of its shape and dtype. In every head each
/// pair (a, b) becomes (a cos - b sin, b cos + a sin).
HEED_KERNEL(void, rotate_forward,
            (const Tensor& x, const Rotation& rotation, const RotateOptions& options, Tensor& y),
            (x, rotation, options, y))
/// dx = dy rotated back; dx may be dy.
HEED_KERNEL(void, rotate_backward,
            (const Tensor& dy, const Rotation& rotation, const RotateOptions& options, Tensor& dx),
            (dy, rotation, options, dx))

}  // namespace heed::kernels
