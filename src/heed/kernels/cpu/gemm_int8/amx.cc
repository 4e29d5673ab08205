// Integer products for Intel's AMX: four tiles of 16 x 16 sums, to which an instruction adds the
// products of 64 neighbouring k.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,amx-tile,amx-int8")

#include "heed/kernels/cpu/simd/amx_tiles-inl.h"

namespace heed::kernels::cpu {
namespace {

// Fewer rows are faster with vectors.
constexpr int64_t kMinRows = 4;
static_assert(2 * kTile <= kMaxInt8Rows);

void begin(int64_t rows) {
  if (rows > kTile)
    configure(kTile, rows - kTile);
  else
    configure(rows, rows);
}

/// Panels are loaded with a streaming hint, so that they do not displace the rows of a from the
/// level-1 cache, where the next panel needs them.
template <bool Lower>
void multiply_panel(const Int8Strip& strip) {
  const std::byte* a = strip.a;
  const int8_t* panel = strip.panel.quants();
  clear_sums<Lower>();
  for (int64_t k = 0; k < strip.panel.depth; k += kInt8Depth) {
    _tile_loadd(4, a, strip.row_bytes);
    _tile_stream_loadd(6, panel, kInt8QuadBytes);
    _tile_dpbssd(0, 4, 6);
    _tile_stream_loadd(7, panel + kInt8QuadBytes / 2, kInt8QuadBytes);
    _tile_dpbssd(1, 4, 7);
    if constexpr (Lower) {
      _tile_loadd(5, a + kTile * strip.row_bytes, strip.row_bytes);
      _tile_dpbssd(2, 5, 6);
      _tile_dpbssd(3, 5, 7);
    }
    a += kInt8Depth;
    panel += kInt8Depth / 4 * kInt8QuadBytes;
  }
  store_sums<Lower>(strip.dots, kInt8Cols);
}

void multiply(const Int8Strip& strip) {
  strip.rows > kTile ? multiply_panel<true>(strip) : multiply_panel<false>(strip);
}

void end() { _tile_release(); }

}  // namespace

constinit const Int8Kernel amx_int8_kernel{.name = "amx",
                                           .needs = Instructions::amx_int8,
                                           .min_rows = kMinRows,
                                           .max_rows = 2 * kTile,
                                           .row_multiple = kTile,
                                           .row_quants = RowQuants::bytes,
                                           .begin = begin,
                                           .multiply = multiply,
                                           .end = end};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
