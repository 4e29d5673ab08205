#pragma once

#include <cstdint>
#include <string_view>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// Which two of r columns form pair c, c < r / 2: neighbours (2c, 2c + 1), as in the paper, or one
/// of each half (c, c + r / 2), as in most checkpoints.
enum class PairLayout { interleaved, halves };

/// "interleaved" or "halves".
constexpr std::string_view name_of(PairLayout layout) {
  return layout == PairLayout::interleaved ? "interleaved" : "halves";
}

/// The angle of every token's pairs, as cosines and sines [N, r / 2] f32.
struct Rotation {
  Tensor cos, sin;
};

struct RotateOptions {
  int64_t n_heads = 1;
  PairLayout layout = PairLayout::halves;
  /// The columns [begin, begin + r) of every head are rotated; the others are copied.
  int64_t begin = 0;
  /// Rotate by the negative angles: the gradient of a rotation.
  bool inverse = false;
};

/// Rotary positions (Su et al. 2021): x [N, H d] -> y of its shape and dtype. Each pair (a, b) of
/// every head becomes (a cos - b sin, b cos + a sin). y may be x.
HEED_KERNEL(rotate, void(const Tensor& x, const Rotation& rotation, const RotateOptions& options,
                         Tensor& y));

}  // namespace heed::kernels
