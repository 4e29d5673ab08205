#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// A weight of blocks, laid out once as integer products want to read it; as large as it was.
struct PackedBlocks {
  std::shared_ptr<std::byte> panels;
  DType dtype = DType::q8_0;
  int64_t rows = 0, cols = 0;  // N, K
  /// What the reference reads, in place of panels.
  Tensor weight;
  bool defined() const { return panels || weight.defined(); }
};

/// Whether matmul_blocks multiplies with weights of `dtype`: q8_0, q4_0, q4_1 and q6_K.
constexpr bool multiplies_blocks(DType dtype) { return !is_plain(dtype); }

/// Elements of a row of activations that share a scale, and whose products are summed exactly.
inline constexpr int64_t kProductBlock = 32;

/// Packs weight [N, K], whose bytes it then no longer needs. Throws Error when it is not of blocks.
HEED_KERNEL(PackedBlocks, pack_blocks, (const Tensor& weight), (weight))

/// Several, for which threads meet once.
HEED_KERNEL(std::vector<PackedBlocks>, pack_blocks, (std::span<const Tensor> weights), (weights))

/// c = a weight^T + bias with a quantised on the way: a [M, K] of f32 or bf16, bias [N] f32 or
/// absent, c [M, N] of f32 or bf16, which must not overlap them.
///
/// Each 32 elements of a row of a become integers of 8 bits, round(x / scale), with
/// scale = max |x| / 127. (Where one is not finite, the scale is NaN.) Their dot product with a
/// column's is an exact integer, `dot`; for q6_K it holds the scales of its 16 elements, too. An
/// element of c is, over these blocks in order, sum = fma(scale, part, sum) with
/// part = weight's scale * dot or, for q4_1, fma(minimum, sum of a's integers, weight's scale *
/// dot); a zero is positive there, and a weight's infinite scale or minimum counts as NaN. At the
/// end the bias is added. So the bits depend neither on M and N, nor on the number of threads, nor
/// on the machine: cpu and reference agree.
///
/// Sizes are the caller's to check; throws Error when a dtype is not one of these, and when the
/// weight was packed by another backend.
HEED_KERNEL(void, matmul_blocks,
            (const Tensor& a, const PackedBlocks& weight, const Tensor& bias, Tensor& c),
            (a, weight, bias, c))

/// One of several such products with the same a.
struct BlockProduct {
  const PackedBlocks* weight;
  const Tensor* bias;
  Tensor* c;
};

/// All of them, bit for bit as one by one: a is quantised once for weights of one type that follow
/// each other, and threads meet once.
HEED_KERNEL(void, matmul_blocks, (const Tensor& a, std::span<const BlockProduct> products),
            (a, products))

}  // namespace heed::kernels
