// The f32 kernel: tiles of 14 x 32 (AVX-512), 6 x 16 (AVX2) or 6 x 8 in registers. A bf16 factor is
// widened when it is packed.
#include "heed/kernels/cpu/matmul_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/matmul_f32.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using cpu::MatrixView;
using cpu::TileOutput;

constexpr int64_t kLanes = static_cast<int64_t>(HWY_LANES(float));
constexpr int64_t kRows = kLanes == 16 ? 14 : 6;
constexpr int64_t kCols = 2 * kLanes;

int64_t f32_rows() { return kRows; }
int64_t f32_cols() { return kCols; }

/// Panel [K, kRows] of a.
template <typename T>
void pack_rows(const MatrixView& a, int64_t first, float* panel) {
  const T* from = reinterpret_cast<const T*>(a.data) + first * a.row_stride;
  const int64_t rows = HWY_MIN(kRows, a.rows - first);
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t k = 0; k < a.cols; ++k)
      panel[k * kRows + r] =
          r < rows ? static_cast<float>(from[r * a.row_stride + k * a.col_stride]) : 0.0f;
}

/// Panel [K, kCols] of b.
template <typename T>
void pack_cols(const MatrixView& b, int64_t first, float* panel) {
  const F32 d;
  const T* from = reinterpret_cast<const T*>(b.data) + first * b.col_stride;
  const int64_t cols = HWY_MIN(kCols, b.cols - first);
  if (b.col_stride == 1 && cols == kCols) {
    for (int64_t k = 0; k < b.rows; ++k) {
      store(d, load(d, from + k * b.row_stride), panel + k * kCols);
      store(d, load(d, from + k * b.row_stride + kLanes), panel + k * kCols + kLanes);
    }
    return;
  }
  for (int64_t j = 0; j < kCols; ++j)
    for (int64_t k = 0; k < b.rows; ++k)
      panel[k * kCols + j] =
          j < cols ? static_cast<float>(from[k * b.row_stride + j * b.col_stride]) : 0.0f;
}

void f32_pack_a(const MatrixView& a, int64_t first, float* panel) {
  if (a.dtype == DType::f32)
    pack_rows<float>(a, first, panel);
  else
    pack_rows<bfloat16>(a, first, panel);
}

void f32_pack_b(const MatrixView& b, int64_t first, float* panel) {
  if (b.dtype == DType::f32)
    pack_cols<float>(b, first, panel);
  else
    pack_cols<bfloat16>(b, first, panel);
}

template <int Rows>
HWY_INLINE void multiply_rows(int64_t k, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                              float* HWY_RESTRICT c, int64_t stride, bool accumulate) {
  const F32 d;
  V32 left[Rows], right[Rows];
  for (int r = 0; r < Rows; ++r) {
    left[r] = accumulate ? load(d, c + r * stride) : hn::Zero(d);
    right[r] = accumulate ? load(d, c + r * stride + kLanes) : hn::Zero(d);
  }
  for (int64_t i = 0; i < k; ++i) {
    const V32 b0 = hn::Load(d, b), b1 = hn::Load(d, b + kLanes);
    for (int r = 0; r < Rows; ++r) {
      const V32 factor = hn::Set(d, a[r]);
      left[r] = hn::MulAdd(factor, b0, left[r]);
      right[r] = hn::MulAdd(factor, b1, right[r]);
    }
    a += kRows;
    b += kCols;
  }
  for (int r = 0; r < Rows; ++r) {
    store(d, left[r], c + r * stride);
    store(d, right[r], c + r * stride + kLanes);
  }
}

void f32_multiply(int64_t k, const float* a, const float* b, float* c, int64_t stride, int64_t rows,
                  bool accumulate) {
  switch (rows) {
#define HEED_ROWS(n)                                  \
  case n:                                             \
    multiply_rows<n>(k, a, b, c, stride, accumulate); \
    break;
    HEED_ROWS(1)
    HEED_ROWS(2)
    HEED_ROWS(3)
    HEED_ROWS(4)
    HEED_ROWS(5)
    HEED_ROWS(6)
#if HWY_TARGET <= HWY_AVX3
    HEED_ROWS(7)
    HEED_ROWS(8)
    HEED_ROWS(9)
    HEED_ROWS(10)
    HEED_ROWS(11)
    HEED_ROWS(12)
    HEED_ROWS(13)
    HEED_ROWS(14)
#endif
#undef HEED_ROWS
  }
}

template <typename T>
void finish(const TileOutput& out, T* c) {
  const F32 d;
  for (int64_t r = 0; r < out.rows; ++r) {
    const float* tile = out.tile + r * out.tile_stride;
    T* to = c + r * out.c_stride;
    int64_t j = 0;
    for (; j + kLanes <= out.cols; j += kLanes) {
      const V32 value = load(d, tile + j);
      store(d, out.bias ? hn::Add(value, load(d, out.bias + j)) : value, to + j);
    }
    for (; j < out.cols; ++j) to[j] = T(out.bias ? tile[j] + out.bias[j] : tile[j]);
  }
}

void finish_f32(const TileOutput& out, float* c) { finish(out, c); }
void finish_bf16(const TileOutput& out, bfloat16* c) { finish(out, c); }

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(f32_rows);
HWY_EXPORT(f32_cols);
HWY_EXPORT(f32_pack_a);
HWY_EXPORT(f32_pack_b);
HWY_EXPORT(f32_multiply);
HWY_EXPORT(finish_f32);
HWY_EXPORT(finish_bf16);

namespace cpu {
namespace {

int64_t panel_bytes(int64_t elements) {
  return (elements * static_cast<int64_t>(sizeof(float)) + 63) / 64 * 64;
}

}  // namespace

const MatmulKernel& f32_kernel() {
  static const MatmulKernel kernel{
      .name = "f32",
      .mr = HWY_DYNAMIC_DISPATCH(f32_rows)(),
      .nr = HWY_DYNAMIC_DISPATCH(f32_cols)(),
      .a_panel_bytes = [](int64_t k) { return panel_bytes(k * f32_kernel().mr); },
      .b_panel_bytes = [](int64_t k) { return panel_bytes(k * f32_kernel().nr); },
      .pack_a =
          [](const MatrixView& a, int64_t first, std::byte* panel) {
            HWY_DYNAMIC_DISPATCH(f32_pack_a)(a, first, reinterpret_cast<float*>(panel));
          },
      .pack_b =
          [](const MatrixView& b, int64_t first, std::byte* panel) {
            HWY_DYNAMIC_DISPATCH(f32_pack_b)(b, first, reinterpret_cast<float*>(panel));
          },
      .multiply =
          [](int64_t k, const std::byte* a, const std::byte* b, float* c, int64_t stride,
             int64_t rows, bool accumulate) {
            HWY_DYNAMIC_DISPATCH(f32_multiply)
            (k, reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b), c, stride,
             rows, accumulate);
          }};
  return kernel;
}

void finish_tile(const TileOutput& out, float* c) { HWY_DYNAMIC_DISPATCH(finish_f32)(out, c); }
void finish_tile(const TileOutput& out, bfloat16* c) { HWY_DYNAMIC_DISPATCH(finish_bf16)(out, c); }

}  // namespace cpu
}  // namespace heed::kernels
#endif  // HWY_ONCE
