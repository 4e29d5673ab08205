// Integer products for AVX2, in 16 bits: one instruction multiplies 16 pairs and adds neighbours,
// and another adds these sums in 32 bits. In 8 bits, where AVX2 multiplies unsigned with signed
// bytes, 32 products take four instructions as well, one of them only to move the sign.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 6;
constexpr int kVectors = 2;
constexpr int64_t kVectorCols = 4;  // a quad of each fills a vector of 16 bits

/// Four neighbouring k of a row, in every lane of 64 bits.
__m256i broadcast_quad(const int16_t* from) {
  int64_t quad;
  std::memcpy(&quad, from, sizeof(quad));
  return _mm256_set1_epi64x(quad);
}

/// Quads of 4 columns in 16 bits.
__m256i load_columns(const int8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
}

/// The columns of two vectors from the sums of their pairs of k.
__m256i join_pairs(__m256i first, __m256i second) {
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(first, second), 0b11'01'10'00);
}

/// Rows times the columns [col, col + kVectors * kVectorCols) of a panel.
template <int Rows>
void multiply_columns(const Int8Strip& strip, int64_t col) {
  const auto* a = reinterpret_cast<const int16_t*>(strip.a);
  const int64_t stride = strip.row_bytes / 2;
  const int8_t* panel = strip.panel.quants() + 4 * col;
  __m256i sums[Rows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int i = 0; i < kVectors; ++i) sums[r][i] = _mm256_setzero_si256();
  for (int64_t k = 0; k < strip.panel.depth; k += 4, panel += kInt8QuadBytes) {
    __m256i columns[kVectors];
#pragma GCC unroll 2
    for (int i = 0; i < kVectors; ++i) columns[i] = load_columns(panel + 4 * kVectorCols * i);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const __m256i quad = broadcast_quad(a + r * stride + k);
#pragma GCC unroll 2
      for (int i = 0; i < kVectors; ++i) {
        // GCC 12 would move sums between registers, and keep a second copy of each in memory.
        asm("vpaddd %1, %0, %0" : "+x"(sums[r][i]) : "x"(_mm256_madd_epi16(quad, columns[i])));
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
    _mm256_store_si256(reinterpret_cast<__m256i*>(strip.dots + r * kInt8Cols + col),
                       join_pairs(sums[r][0], sums[r][1]));
}

void multiply(const Int8Strip& strip) {
  with_rows<kRows>(strip.rows, [&](auto rows) {
    for (int64_t col = 0; col < kInt8Cols; col += kVectors * kVectorCols)
      multiply_columns<decltype(rows)::value>(strip, col);
  });
}

}  // namespace

constinit const Int8Kernel avx2_int8_kernel{.name = "avx2",
                                            .needs = Instructions::avx2,
                                            .max_rows = kRows,
                                            .row_quants = RowQuants::words,
                                            .multiply = multiply};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
