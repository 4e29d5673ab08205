// With a single row, reading b dominates the time. Vectors read its cache lines one after the
// other, which is faster than tiles, which load 16 lines at once and wait for all of them.
#include "heed/kernels/cpu/gemm/amx_row.h"

#include "heed/kernels/cpu/gemm/bf16_pack.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kPanelStride = kPairCols * 4;  // bytes from pair to pair
static_assert(kPairCols == 2 * kLanes);

/// While it lives, subnormal factors, products and sums are zero, as they are for tiles.
class NoSubnormals {
 public:
  NoSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero); }
  ~NoSubnormals() { _mm_setcsr(before_); }
  NoSubnormals(const NoSubnormals&) = delete;
  NoSubnormals& operator=(const NoSubnormals&) = delete;

 private:
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
  const unsigned before_;
};

/// Two neighbouring k as f32: of 16 columns, or of one row in all lanes.
struct PairFactors {
  explicit PairFactors(__m512i pairs)
      : even(_mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16))),
        odd(_mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(-0x10000)))) {}
  __m512 even, odd;
};

/// 16 sums over 32 neighbouring k in the order of a tile: even and odd k separately.
struct PairSums {
  PairSums() : even(_mm512_setzero_ps()), odd(_mm512_setzero_ps()) {}
  void add(const PairFactors& a, const std::byte* pairs) {
    const PairFactors b(_mm512_load_si512(pairs));
    even = _mm512_fmadd_ps(a.even, b.even, even);
    odd = _mm512_fmadd_ps(a.odd, b.odd, odd);
  }
  __m512 sum() const { return _mm512_add_ps(even, odd); }

  __m512 even, odd;
};

/// Adds the products of the row and 32 columns.
void multiply_panel(const Strip& strip, const std::byte* panel, __m512& left, __m512& right) {
  const std::byte* a = strip.a.data;
  for (int64_t k = 0; k < strip.depth; k += kPairDepth) {
    PairSums left_pairs, right_pairs;
    for (int i = 0; i < kPairDepth / 2; ++i, a += 4, panel += kPanelStride) {
      prefetch_ahead(panel, kPanelStride);
      int32_t factors;
      std::memcpy(&factors, a, sizeof(factors));
      const PairFactors both(_mm512_set1_epi32(factors));
      left_pairs.add(both, panel);
      right_pairs.add(both, panel + kPanelStride / 2);
    }
    left = _mm512_add_ps(left, left_pairs.sum());
    right = _mm512_add_ps(right, right_pairs.sum());
  }
}

// Not inlined, so that the compiler moves nothing of it out of the scope of NoSubnormals.
[[gnu::noinline]] void multiply_row(const Strip& strip) {
  const std::byte* panel = strip.panel;
  const float* start = strip.start;
  std::byte* c = strip.c;
  for (int64_t i = 0; i < strip.panels; ++i) {
    __m512 left = _mm512_setzero_ps(), right = left;
    if (start) {
      left = _mm512_loadu_ps(start);
      right = _mm512_loadu_ps(start + kLanes);
      start += strip.start_panel_stride;
    }
    multiply_panel(strip, panel, left, right);
    if (strip.c_type == DType::f32) {
      _mm512_storeu_ps(c, left);
      _mm512_storeu_ps(c + kLanes * sizeof(float), right);
    } else {
      _mm512_storeu_si512(c, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(right, left)));
    }
    panel += strip.panel_bytes;
    c += strip.c_panel_stride * size_of(strip.c_type);
  }
}

}  // namespace

void multiply_pair_row(const Strip& strip) {
  const NoSubnormals rule;
  multiply_row(strip);
}

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
