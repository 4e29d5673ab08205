// The f32 micro-kernel: sums of 14 x 32 (AVX-512), 6 x 16 (AVX2) or 6 x 8 kept in registers. bf16
// factors are widened when they are packed.
#include "heed/kernels/cpu/gemm/kernels.h"
#include "heed/kernels/cpu/simd/with_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/gemm/f32.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using cpu::MatrixView;
using cpu::MicroKernel;
using cpu::PackedRows;
using cpu::PanelBlock;
using cpu::RowBlock;
using cpu::Strip;

constexpr int64_t kLanes = HWY_MAX_BYTES / 4;
constexpr int kRows = HWY_MAX_BYTES == 64 || HWY_ARCH_ARM_A64 ? 14 : 6;
constexpr int64_t kCols = 2 * kLanes;
// A strip of rows of this depth stays in a level-1 cache while the panels pass.
constexpr int64_t kDepth = 384;
// Not a power of two, so that the rows of a block fall into different sets of a cache.
constexpr int64_t kRowStride = kDepth + 16;
// Rows a multiple of this apart fall into the same set of a level-1 cache.
constexpr int64_t kWayBytes = 4096;

/// to[0, count) = from[0, count) in f32.
template <typename T>
HWY_INLINE void widen(const T* from, int64_t count, float* to) {
  const F32 d;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(d, load(d, from + i), to + i);
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

/// Packs rows that are contiguous in k.
template <typename T>
void copy_rows(const MatrixView& a, RowBlock block, float* to) {
  for (int64_t r = 0; r < block.rows; ++r)
    widen(reinterpret_cast<const T*>(a.at(block.row + r, block.k)), block.depth,
          to + r * kRowStride);
}

/// Packs a transposed block, contiguous in the rows: groups [depth, kRows].
template <typename T>
void copy_columns(const MatrixView& a, RowBlock block, float* to) {
  const F32 d;
  constexpr int64_t kVectors = (kRows + kLanes - 1) / kLanes;
  const int64_t readable = a.rows - block.row;
  for (int64_t k = 0; k < block.depth; ++k) {
    const T* from = reinterpret_cast<const T*>(a.at(block.row, block.k + k));
    float* group = to + k * kRows;
    int64_t r = 0;
    // Whole vectors write past their k, where the next one is written afterwards.
    for (; r < block.rows && r + kVectors * kLanes <= readable;
         r += kRows, group += kRows * kRowStride)
      for (int64_t v = 0; v < kVectors; ++v)
        store(d, load(d, from + r + v * kLanes), group + v * kLanes);
    for (; r < block.rows; r += kRows, group += kRows * kRowStride)
      for (int64_t i = 0; i < HWY_MIN(kRows, block.rows - r); ++i)
        group[i] = static_cast<float>(from[r + i]);
  }
}

/// Plain rows are read where they are, unless they would fall into one set.
PackedRows pack_rows(const MatrixView& a, RowBlock block, std::byte* buffer) {
  const int64_t row_bytes = a.stride * size_of(a.dtype);
  if (a.dtype == DType::f32 && !a.transposed && row_bytes % kWayBytes != 0)
    return {a.at(block.row, block.k), row_bytes, false};
  float* to = reinterpret_cast<float*>(buffer);
  if (a.dtype == DType::f32)
    a.transposed ? copy_columns<float>(a, block, to) : copy_rows<float>(a, block, to);
  else
    a.transposed ? copy_columns<bfloat16>(a, block, to) : copy_rows<bfloat16>(a, block, to);
  return {buffer, kRowStride * 4, a.transposed};
}

int64_t packed_rows_bytes(int64_t rows) { return (rows + kRows) * kRowStride * 4; }

using F32x4 = hn::CappedTag<float, 4>;

HWY_INLINE hn::Vec<F32x4> load4(const float* from) { return hn::LoadU(F32x4(), from); }
HWY_INLINE hn::Vec<F32x4> load4(const bfloat16* from) {
  const hn::Rebind<uint16_t, F32x4> half;
  const hn::Repartition<uint32_t, F32x4> whole;
  const auto bits = hn::LoadU(half, reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(F32x4(), hn::ShiftLeft<16>(hn::PromoteTo(whole, bits)));
}

/// Transposes 4 x 4 elements: rows `stride` apart to rows kCols apart.
template <typename T>
HWY_INLINE void transpose4(const T* from, int64_t stride, float* to) {
  const F32x4 d;
  const hn::Repartition<double, F32x4> pairs;
  const auto r0 = load4(from), r1 = load4(from + stride);
  const auto r2 = load4(from + 2 * stride), r3 = load4(from + 3 * stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + kCols);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * kCols);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * kCols);
}

/// Packs a panel of a transposed b.
template <typename T>
void transpose_panel(const T* from, int64_t stride, int64_t depth, int64_t cols, float* to) {
  int64_t j = 0;
  for (; j + 4 <= cols; j += 4, from += 4 * stride) {
    int64_t i = 0;
    for (; i + 4 <= depth; i += 4) transpose4(from + i, stride, to + i * kCols + j);
    for (; i < depth; ++i)
      for (int64_t n = 0; n < 4; ++n)
        to[i * kCols + j + n] = static_cast<float>(from[n * stride + i]);
  }
  for (; j < cols; ++j, from += stride)
    for (int64_t i = 0; i < depth; ++i) to[i * kCols + j] = static_cast<float>(from[i]);
}

template <typename T>
void pack_panels_of(const MatrixView& b, const PanelBlock& block, float* to, int64_t panel_stride) {
  const int64_t cols = HWY_MIN(block.panels * kCols, b.cols - block.col);
  const int64_t whole = cols / kCols, rest = cols % kCols;
  if (rest > 0)
    for (int64_t i = 0; i < block.depth * kCols; ++i) to[whole * panel_stride + i] = 0.0f;
  if (b.transposed) {
    for (int64_t panel = 0; panel < block.panels; ++panel)
      transpose_panel(reinterpret_cast<const T*>(b.at(block.k, block.col + panel * kCols)),
                      b.stride, block.depth, panel < whole ? kCols : rest,
                      to + panel * panel_stride);
    return;
  }
  // Row by row across the panels: the order of memory.
  const T* from = reinterpret_cast<const T*>(b.at(block.k, block.col));
  for (int64_t i = 0; i < block.depth; ++i, from += b.stride, to += kCols) {
    for (int64_t panel = 0; panel < whole; ++panel)
      widen(from + panel * kCols, kCols, to + panel * panel_stride);
    if (rest > 0) widen(from + whole * kCols, rest, to + whole * panel_stride);
  }
}

void pack_panels(const MatrixView& b, const PanelBlock& block, std::byte* to, int64_t panel_bytes) {
  if (b.dtype == DType::f32)
    pack_panels_of<float>(b, block, reinterpret_cast<float*>(to), panel_bytes / 4);
  else
    pack_panels_of<bfloat16>(b, block, reinterpret_cast<float*>(to), panel_bytes / 4);
}

/// A strip of Rows rows and one panel. Every sum is a chain of multiply-adds in the order of k,
/// whatever Rows is.
template <int Rows, bool ColumnMajor, typename C>
HWY_INLINE void multiply_panel(const Strip& strip, const float* HWY_RESTRICT b, const float* start,
                               C* c) {
  const F32 d;
  constexpr int64_t kNextK = ColumnMajor ? kRows : 1;
  // Three rows share a pointer: x86 addresses base + stride and base + 2 stride directly.
  constexpr int kPointers = ColumnMajor ? 1 : (Rows + 2) / 3;
  const int64_t stride = strip.a.row_bytes / 4;
  const float* a[kPointers];
  for (int i = 0; i < kPointers; ++i)
    a[i] = reinterpret_cast<const float*>(strip.a.data) + 3 * i * stride;
  V32 left[Rows], right[Rows];
  for (int r = 0; r < Rows; ++r) {
    left[r] = start ? load(d, start + r * strip.start_stride) : hn::Zero(d);
    right[r] = start ? load(d, start + r * strip.start_stride + kLanes) : hn::Zero(d);
  }
  for (int64_t k = 0; k < strip.depth; ++k) {
    const V32 b0 = hn::Load(d, b), b1 = hn::Load(d, b + kLanes);
    for (int r = 0; r < Rows; ++r) {
      const V32 factor = hn::Set(d, ColumnMajor ? a[0][r] : a[r / 3][r % 3 * stride]);
      left[r] = hn::MulAdd(factor, b0, left[r]);
      right[r] = hn::MulAdd(factor, b1, right[r]);
    }
    for (int i = 0; i < kPointers; ++i) a[i] += kNextK;
    b += kCols;
  }
  for (int r = 0; r < Rows; ++r) {
    store(d, left[r], c + r * strip.c_stride);
    store(d, right[r], c + r * strip.c_stride + kLanes);
  }
}

template <int Rows, bool ColumnMajor>
void multiply_rows(const Strip& strip) {
  const float* panel = reinterpret_cast<const float*>(strip.panel);
  const float* start = strip.start;
  for (int64_t i = 0; i < strip.panels; ++i) {
    const int64_t at = i * strip.c_panel_stride;
    if (strip.c_type == DType::f32)
      multiply_panel<Rows, ColumnMajor>(strip, panel, start,
                                        reinterpret_cast<float*>(strip.c) + at);
    else
      multiply_panel<Rows, ColumnMajor>(strip, panel, start,
                                        reinterpret_cast<bfloat16*>(strip.c) + at);
    panel += strip.panel_bytes / 4;
    if (start) start += strip.start_panel_stride;
  }
}

void multiply(const Strip& strip) {
  cpu::with_rows<kRows>(strip.rows, [&](auto rows) {
    constexpr int kCount = decltype(rows)::value;
    strip.a.column_major ? multiply_rows<kCount, true>(strip) : multiply_rows<kCount, false>(strip);
  });
}

const MicroKernel* f32_micro_kernel() {
  static constexpr MicroKernel kernel{.name = "f32",
                                      .needs = cpu::Instructions::none,
                                      .panel_type = DType::f32,
                                      .element_bytes = 4,
                                      .rows = kRows,
                                      .cols = kCols,
                                      .depth = kDepth,
                                      .transposed_depth = kDepth,
                                      .depth_multiple = 1,
                                      .max_packed_rows = 8 * kRows,
                                      .operations_per_microsecond = 1e4 * kLanes,
                                      .packed_rows_bytes = packed_rows_bytes,
                                      .pack_rows = pack_rows,
                                      .pack_panels = pack_panels,
                                      .multiply = multiply};
  return &kernel;
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(f32_micro_kernel);

const cpu::MicroKernel& cpu::f32_kernel() { return *HWY_DYNAMIC_DISPATCH(f32_micro_kernel)(); }

}  // namespace heed::kernels
#endif  // HWY_ONCE
