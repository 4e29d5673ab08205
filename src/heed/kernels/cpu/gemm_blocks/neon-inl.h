#pragma once

// What the block kernels of 64-bit Arm share. The including file includes all other headers first,
// then simd/neon-inl.h, gemm_blocks/panel-inl.h and what defines its sums, then this file.
#include "heed/kernels/cpu/gemm_blocks/signed_block-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 8;

/// The Arithmetic of panel-inl.h with NeonSums or DotSums.
template <typename Sums>
struct Neon {
  template <DType type, int rows>
  using Block = SignedBlock<type>;

  template <DType type>
  static Floats dots(const SignedBlock<type>& block, const int8_t* a, const int32_t* initial) {
    constexpr bool kBiased = SignedBlock<type>::kBiased;
    Sums first, second;
    first.add(block.quads, load_row(a));
    second.add(block.quads + 4, load_row(a + 16));
    Ints low = first.total(), high = second.total();
    if constexpr (kBiased) low = add(low, set_ints(initial[0]));
    if constexpr (kBiased && has_halves(traits_of(type))) high = add(high, set_ints(initial[1]));
    return join_halves<type>(block, low, high);
  }
};

}  // namespace
}  // namespace heed::kernels::cpu
