// Integer products for AVX-512 with VNNI (Intel Ice Lake, AMD Zen 4): an instruction multiplies 4
// neighbouring k of 16 columns with those of a row, which are biased.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>
#include <utility>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 12;
constexpr int64_t kLanes = 16;
static_assert(kRows <= kMostInt8Rows);

__m512i broadcast_quad(const int8_t* from) {
  int32_t quad;
  std::memcpy(&quad, from, sizeof(quad));
  return _mm512_set1_epi32(quad);
}

template <int Rows>
void multiply_rows(const Int8Strip& strip) {
  const int8_t *a = strip.a, *panel = strip.panel.quants();
  __m512i left[Rows], right[Rows];
  for (int r = 0; r < Rows; ++r) {
    left[r] = _mm512_load_si512(strip.panel.starts());
    right[r] = _mm512_load_si512(strip.panel.starts() + kLanes);
  }
  for (int64_t k = 0; k < strip.panel.depth; k += 4) {
    if constexpr (Rows == 1)  // which takes as long as reading the panel
      prefetch_behind(reinterpret_cast<const std::byte*>(panel), kInt8QuadBytes);
    const __m512i b_left = _mm512_load_si512(panel), b_right = _mm512_load_si512(panel + 64);
    for (int r = 0; r < Rows; ++r) {
      const __m512i quad = broadcast_quad(a + r * strip.row_bytes + k);
      left[r] = _mm512_dpbusd_epi32(left[r], quad, b_left);
      right[r] = _mm512_dpbusd_epi32(right[r], quad, b_right);
    }
    panel += kInt8QuadBytes;
  }
  for (int r = 0; r < Rows; ++r) {
    _mm512_store_si512(strip.dots + r * kInt8Cols, left[r]);
    _mm512_store_si512(strip.dots + r * kInt8Cols + kLanes, right[r]);
  }
}

void multiply(const Int8Strip& strip) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    ((strip.rows == i + 1 ? multiply_rows<i + 1>(strip) : void()), ...);
  }
  (std::make_integer_sequence<int, kRows>());
}

}  // namespace
}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {

const Int8Kernel* avx512_vnni_int8_kernel() {
  static constexpr Int8Kernel kernel{
      .name = "avx512_vnni", .least_rows = 0, .rows = kRows, .biased = true, .multiply = multiply};
  static const bool available = has(Instructions::avx512_vnni);
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const Int8Kernel* avx512_vnni_int8_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
