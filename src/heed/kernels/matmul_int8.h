#pragma once

#include <memory>
#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// A weight of 8-bit integers with per-channel scales, one for each row, packed once in the layout
/// that integer products read.
struct PackedInt8 {
  std::shared_ptr<std::byte> panels = {};
  int64_t panel_bytes = 0;     // of all panels
  int64_t rows = 0, cols = 0;  // N, K
  /// What the reference reads instead of panels.
  Tensor weight = {};
  /// Whose memory the panels are in; null: the host's.
  Device* device = nullptr;
  bool defined() const { return panels || weight.defined(); }
};

/// The longest rows that matmul_int8 multiplies: their sums fit in 32 bits.
inline constexpr int64_t kMaxInt8Cols = int64_t{1} << 17;

/// One of several products with the same left factor.
struct Int8Product {
  const PackedInt8* weight;
  const Tensor* bias;
  Tensor* c;
};

/// Quantises weight [N, K] of any stored dtype per channel, row by row: round(x * (1 / scale)) with
/// scale = max |x| / 127. (If one is not finite, the scale is NaN; if 1 / scale is not, all
/// integers are zero.) A q8_0 weight is thereby rounded a second time. Throws Error if K exceeds
/// kMaxInt8Cols.
HEED_KERNEL(pack_int8, PackedInt8(const Tensor& weight));

/// c = a weight^T + bias for several weights and one a, in one parallel region. a [M, K] of f32 or
/// bf16, bias [N] f32 or undefined (absent), c [M, N] of f32 or bf16, which must not overlap them.
/// The caller checks sizes. Throws Error for any other dtype, and if a weight was packed by another
/// backend.
///
/// a is quantised once, in the same way per token: one scale per row. An element of c is
/// dot * (a's scale * weight's scale) + bias, where `dot` is an exact integer and each step is
/// rounded to f32, finally to bf16 if c is. So the bits depend neither on M and N, nor on the
/// number of threads, nor on the machine, and cpu and reference agree.
///
/// Compared with matmul_blocks, sums stay integers over the whole row: several times as fast for
/// many rows, but less exact where the elements of a row differ much in magnitude.
HEED_KERNEL(matmul_int8_grouped, void(const Tensor& a, std::span<const Int8Product> products));

/// The same for one weight.
inline void matmul_int8(const Tensor& a, const PackedInt8& weight, const Tensor& bias, Tensor& c) {
  const Int8Product product{&weight, &bias, &c};
  matmul_int8_grouped(a, {&product, 1});
}

}  // namespace heed::kernels
