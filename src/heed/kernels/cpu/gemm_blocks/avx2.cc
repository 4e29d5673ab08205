// Integer products with blocks for AVX2. Pairs of products are added in 16 bits, which must not
// overflow, before they are added in 32.
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

#include "heed/kernels/cpu/simd/avx2-inl.h"
// After the vectors that it uses:
#include "heed/kernels/cpu/gemm_blocks/panel-inl.h"
#include "heed/kernels/cpu/gemm_blocks/signed_block-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 4;

struct Avx2 {
  /// Of unsigned quants of 8 bits, two products would overflow 16 bits.
  template <DType type, int rows>
  using Block = SignedBlock<type>;

  template <DType type>
  static Floats dots(const SignedBlock<type>& block, const int8_t* a, const int32_t* initial) {
    constexpr BlockTraits kTraits = traits_of(type);
    constexpr bool kBiased = SignedBlock<type>::kBiased;
    Ints first = half_dots<type>(block.quads, a);
    Ints second = half_dots<type>(block.quads + 4, a + 16);
    if constexpr (kBiased) first = add(first, set_ints(initial[0]));
    if constexpr (kBiased && has_halves(kTraits)) second = add(second, set_ints(initial[1]));
    return join_halves<type>(block, first, second);
  }

 private:
  /// Sums of two products, in 16 bits: at most 2 * 128 * 127.
  template <DType type>
  static Ints pairs(Ints weights, Ints a) {
    if constexpr (SignedBlock<type>::kSigned)
      return _mm256_maddubs_epi16(_mm256_abs_epi8(weights), _mm256_sign_epi8(a, weights));
    else
      return _mm256_maddubs_epi16(weights, a);
  }

  /// The dot products of 16 elements, in 32 bits.
  template <DType type>
  static Ints half_dots(const Ints* quads, const int8_t* a) {
    const Ints ones = _mm256_set1_epi16(1);
    Ints sum[4];
    for (int i = 0; i < 4; ++i) sum[i] = pairs<type>(quads[i], broadcast_quad(a + 4 * i));
    if constexpr (SignedBlock<type>::kSigned) {
      for (Ints& pair : sum) pair = _mm256_madd_epi16(pair, ones);
      return add(add(sum[0], sum[1]), add(sum[2], sum[3]));
    }
    // 16 bits hold two sums of pairs with quants of six bits, and four with quants of five bits.
    const Ints first = _mm256_add_epi16(sum[0], sum[1]);
    const Ints second = _mm256_add_epi16(sum[2], sum[3]);
    if constexpr (traits_of(type).bits == 6)
      return add(_mm256_madd_epi16(first, ones), _mm256_madd_epi16(second, ones));
    return _mm256_madd_epi16(_mm256_add_epi16(first, second), ones);
  }
};

}  // namespace

constinit const BlockKernel avx2_block_kernel{.name = "avx2",
                                              .needs = Instructions::avx2,
                                              .max_rows = kRows,
                                              .interleave = kRows,
                                              .multiply = multiply_strip<Avx2, kRows>};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
