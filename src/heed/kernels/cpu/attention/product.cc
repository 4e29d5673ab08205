// Products of small packed matrices, for all of attention (see tiles-inl.h): sums of up to six rows
// times four vectors in registers.
#include "heed/kernels/cpu/attention/work.h"
#include "heed/kernels/cpu/simd/with_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/attention/product.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/attention/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

template <int kRows, int kVectors>
HWY_NOINLINE void product_block(Left a, Rows<const float> b, int64_t count, Rows<float> c,
                                bool accumulate) {
  const F32 d;
  V32 sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      sum[i][v] = accumulate ? hn::Load(d, c.data + i * c.stride + v * lanes()) : hn::Zero(d);
  for (int64_t k = 0; k < count; ++k) {
    V32 right[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) right[v] = hn::Load(d, b.data + k * b.stride + v * lanes());
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const auto left = hn::Set(d, a.data[i * a.row_stride + k * a.col_stride]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(left, right[v], sum[i][v]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) hn::Store(sum[i][v], d, c.data + i * c.stride + v * lanes());
}

template <int kVectors>
HWY_INLINE void product_columns(int64_t rows, Left a, Rows<const float> b, int64_t count,
                                Rows<float> c, bool accumulate) {
  cpu::with_rows<cpu::kPanelRows>(rows, [&](auto constant) {
    product_block<decltype(constant)::value, kVectors>(a, b, count, c, accumulate);
  });
}

}  // namespace

void product(int64_t rows, int64_t vectors, int64_t count, Left a, Rows<const float> b,
             Rows<float> c, bool accumulate) {
  // Six rows times four vectors of sums fill 32 registers, times two vectors 16.
  constexpr int64_t kWidest = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 4 : 2;
  while (vectors > 0) {
    const int64_t width =
        vectors > kWidest && vectors < 2 * kWidest ? (vectors + 1) / 2 : HWY_MIN(vectors, kWidest);
    if (kWidest == 4 && width == 4)
      product_columns<kWidest>(rows, a, b, count, c, accumulate);
    else if (kWidest == 4 && width == 3)
      product_columns<(kWidest == 4 ? 3 : 1)>(rows, a, b, count, c, accumulate);
    else if (width == 2)
      product_columns<2>(rows, a, b, count, c, accumulate);
    else
      product_columns<1>(rows, a, b, count, c, accumulate);
    b.data += width * lanes();
    c.data += width * lanes();
    vectors -= width;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();
