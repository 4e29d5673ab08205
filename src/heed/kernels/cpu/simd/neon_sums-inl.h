#pragma once

// Sums of products of signed bytes with instructions that every 64-bit Arm processor has. After
// neon-inl.h; dot_sums-inl.h has the same for SDOT.
namespace heed::kernels::cpu {
namespace {

/// The dot products of a row with four columns.
struct NeonSums {
  Ints first;   // twice two columns: the even and the odd pairs of k
  Ints second;  // of the other two

  NeonSums() : first(set_ints(0)), second(set_ints(0)) {}

  /// Adds the products of 16 neighbouring k: `columns` are four vectors of quads.
  void add(const Ints* columns, int8x16_t row) {
    add_quads<0>(columns[0], columns[1], row);
    add_quads<2>(columns[2], columns[3], row);
  }

  Ints total() const { return vpaddq_s32(first, second); }

 private:
  /// Two products fit in 16 bits: the bytes of a row are above -128.
  template <int quad>
  void add_quads(Ints columns, Ints next_columns, int8x16_t row) {
    const int8x16_t a = as_signed_bytes(columns), b = as_signed_bytes(next_columns);
    const int32x4_t quads = vreinterpretq_s32_s8(row);
    const int8x16_t x = as_signed_bytes(vdupq_laneq_s32(quads, quad));
    const int8x16_t y = as_signed_bytes(vdupq_laneq_s32(quads, quad + 1));
    const int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(x));
    const int16x8_t high = vmull_high_s8(a, x);
    first = vpadalq_s16(first, vmlal_s8(low, vget_low_s8(b), vget_low_s8(y)));
    second = vpadalq_s16(second, vmlal_high_s8(high, b, y));
  }
};

}  // namespace
}  // namespace heed::kernels::cpu
