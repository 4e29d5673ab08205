// Chains of products that Highway does not offer: of bf16 and int8, in vectors and in tiles.
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/limits.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

namespace heed::kernels::cpu {
namespace {

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")

/// Calls link(sum) for every chain again and again; the asm keeps the compiler from removing them.
template <typename Vector, typename Link>
__attribute__((always_inline)) inline void run_chains(Vector first, const Link& link) {
  Vector sums[kChains];
  for (Vector& sum : sums) sum = first;
  for (int64_t i = 0; i < kLinks; ++i)
    for (Vector& sum : sums) link(sum);
  for (Vector& sum : sums) __asm__ volatile("" : : "v"(sum));
}

void multiply_bf16() {
  const auto x = reinterpret_cast<__m512bh>(_mm512_setzero_si512());
  run_chains(
      _mm512_setzero_ps(), [&](__m512 & sum) __attribute__((always_inline)) {
        sum = _mm512_dpbf16_ps(sum, x, x);
      });
}

void multiply_bytes_vnni() {
  const __m512i x = _mm512_set1_epi8(1);
  run_chains(
      _mm512_setzero_si512(), [&](__m512i & sum) __attribute__((always_inline)) {
        sum = _mm512_dpbusd_epi32(sum, x, x);
      });
}

void multiply_bytes_512() {
  const __m512i x = _mm512_set1_epi8(1), ones = _mm512_set1_epi16(1);
  run_chains(
      _mm512_setzero_si512(), [&](__m512i & sum) __attribute__((always_inline)) {
        const __m512i pairs = _mm512_maddubs_epi16(sum, x);
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, ones));
      });
}

HWY_POP_ATTRIBUTES
HWY_PUSH_ATTRIBUTES("avx2,avxvnni")

/// The same for AVX2.
template <typename Link>
__attribute__((always_inline)) inline void run_short_chains(const Link& link) {
  __m256i sums[kChains];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  for (int64_t i = 0; i < kLinks; ++i)
    for (__m256i& sum : sums) link(sum);
  for (__m256i& sum : sums) __asm__ volatile("" : : "x"(sum));
}

void multiply_bytes_avx_vnni() {
  const __m256i x = _mm256_set1_epi8(1);
  run_short_chains([&](__m256i & sum) __attribute__((always_inline)) {
    sum = _mm256_dpbusd_avx_epi32(sum, x, x);
  });
}

HWY_POP_ATTRIBUTES
HWY_PUSH_ATTRIBUTES("avx2")

void multiply_bytes_avx2() {
  const __m256i x = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
  __m256i sums[kChains];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  for (int64_t i = 0; i < kLinks; ++i)
    for (__m256i& sum : sums)
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(sum, x), ones));
  for (__m256i& sum : sums) __asm__ volatile("" : : "x"(sum));
}

HWY_POP_ATTRIBUTES
}  // namespace
}  // namespace heed::kernels::cpu

HWY_PUSH_ATTRIBUTES("amx-tile,amx-bf16,amx-int8")

#include "heed/kernels/cpu/simd/amx_config-inl.h"

namespace heed::kernels::cpu {
namespace {

/// Makes all tiles 16 rows of 64 bytes.
void open_tiles() {
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = 16;
  }
  config.load();
}

/// kChains products in four sums.
void multiply_tiles_bf16() {
  open_tiles();
  for (int64_t i = 0; i < kLinks / 16 * kChains / 4; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

void multiply_tiles_int8() {
  open_tiles();
  for (int64_t i = 0; i < kLinks / 16 * kChains / 4; ++i) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
}

}  // namespace
}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {
namespace {

struct Candidate {
  Compute arithmetic;
  std::string_view instructions;
  Instructions needed;
  double operations;  // of a link of a chain
  void (*run)();
};

// The fastest first. A product of tiles is 16 links.
constexpr Candidate kCandidates[] = {
    {Compute::bf16, "AMX", Instructions::amx_bf16, 2 * 16 * 16 * 32 / 16.0, multiply_tiles_bf16},
    {Compute::bf16, "AVX512-BF16", Instructions::avx512_bf16, 64, multiply_bf16},
    {Compute::int8, "AMX", Instructions::amx_int8, 2 * 16 * 16 * 64 / 16.0, multiply_tiles_int8},
    {Compute::int8, "AVX512-VNNI", Instructions::avx512_vnni, 128, multiply_bytes_vnni},
    {Compute::int8, "AVX-512", Instructions::avx512, 128, multiply_bytes_512},
    {Compute::int8, "AVX-VNNI", Instructions::avx_vnni, 64, multiply_bytes_avx_vnni},
    {Compute::int8, "AVX2", Instructions::avx2, 64, multiply_bytes_avx2},
};

}  // namespace

std::optional<ArithmeticRate> measure_intrinsics(Compute arithmetic, double seconds) {
  for (const Candidate& candidate : kCandidates)
    if (candidate.arithmetic == arithmetic && has(candidate.needed))
      return ArithmeticRate{best_chain_rate(seconds, candidate.operations, candidate.run),
                            candidate.instructions};
  return std::nullopt;
}

}  // namespace heed::kernels::cpu

#endif
