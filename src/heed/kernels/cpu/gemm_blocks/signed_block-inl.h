#pragma once

// For instructions that multiply signed quants. After panel-inl.h.
namespace heed::kernels::cpu {
namespace {

/// A block whose quants of 8 bits are signed again; those of fewer bits stay raised by
/// quant_bias().
template <DType type>
struct SignedBlock : PanelBlock<type> {
  static constexpr bool kSigned = traits_of(type).lowest == -128;
  static constexpr bool kBiased = !kSigned && quant_bias(traits_of(type)) != 0;

  SignedBlock(const PanelLayout& layout, const std::byte* panel, int64_t block, int64_t col)
      : PanelBlock<type>(layout, panel, block, col) {
    if constexpr (kSigned)
      for (Ints& quad : this->quads) quad = bits_xor(quad, set_bytes(-128));
  }
};

}  // namespace
}  // namespace heed::kernels::cpu
