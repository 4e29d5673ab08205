#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// A weight of a block type, packed once in the layout that integer products read; it takes no more
/// memory.
struct PackedBlocks {
  std::shared_ptr<std::byte> panels = {};
  int64_t panel_bytes = 0;  // of all panels
  DType dtype = DType::q8_0;
  int64_t rows = 0, cols = 0;  // N, K
  /// What the reference reads instead of panels.
  Tensor weight = {};
  /// Whose memory the panels are in; null: the host's.
  Device* device = nullptr;
  bool defined() const { return panels || weight.defined(); }
};

/// Whether matmul_blocks multiplies with weights of `dtype`: every block type.
constexpr bool multiplies_blocks(DType dtype) { return !is_plain(dtype); }

/// Elements of a row of activations that share a scale, and whose products are summed exactly.
inline constexpr int64_t kProductBlock = 32;

/// Whether the halves of 32 elements of a weight have their own sub-scales.
constexpr bool has_halves(const BlockTraits& type) {
  return type.sub_scale_elements == kProductBlock / 2;
}

/// One of several products with the same left factor.
struct BlockProduct {
  const PackedBlocks* weight;
  const Tensor* bias;
  Tensor* c;
};

/// Packs weights [N, K] in one parallel region. Their bytes are not needed afterwards. Throws Error
/// if one is not of a block type.
HEED_KERNEL(pack_blocks_grouped, std::vector<PackedBlocks>(std::span<const Tensor> weights));

/// Packs one weight.
inline PackedBlocks pack_blocks(const Tensor& weight) {
  return pack_blocks_grouped({&weight, 1}).front();
}

/// c = a weight^T + bias for several weights and one a, in one parallel region. a [M, K] of f32 or
/// bf16, bias [N] f32 or undefined (absent), c [M, N] of f32 or bf16, which must not overlap them.
/// The caller checks sizes. Throws Error for any other dtype, and if a weight was packed by another
/// backend.
///
/// a is quantised first, once for consecutive weights of one type: each 32 elements of a row become
/// 8-bit integers round(x / scale) with scale = max |x| / 127. (If one is not finite, the scale is
/// NaN.) `dot` is their exact dot product with the integers of a weight's row, each multiplied with
/// its sub-scale where the type has sub-scales. An element of c is, over these blocks in order,
/// sum = fma(scale, part, sum), where part = weight's scale * dot. If the type has a minimum,
/// fma(minimum * sub-minimum, sum of a's integers, part) follows: once, or for each half with its
/// own sub-minimum. Zeros are positive there, and an infinite scale or minimum of a weight counts
/// as NaN. The bias is added at the end. So the bits depend neither on M and N, nor on the number
/// of threads, nor on the machine, and cpu and reference agree.
HEED_KERNEL(matmul_blocks_grouped, void(const Tensor& a, std::span<const BlockProduct> products));

/// The same for one weight.
inline void matmul_blocks(const Tensor& a, const PackedBlocks& weight, const Tensor& bias,
                          Tensor& c) {
  const BlockProduct product{&weight, &bias, &c};
  matmul_blocks_grouped(a, {&product, 1});
}

}  // namespace heed::kernels
