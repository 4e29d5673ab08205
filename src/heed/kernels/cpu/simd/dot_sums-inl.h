#pragma once

// Sums of products of signed bytes with SDOT, which multiplies 4 neighbouring k of 4 columns with
// those of a row. The including file must have enabled it (HEED_ARM_DOT) before. After neon-inl.h.
namespace heed::kernels::cpu {
namespace {

/// The dot products of a row with four columns.
struct DotSums {
  Ints sums;

  DotSums() : sums(set_ints(0)) {}

  /// Adds the products of 16 neighbouring k: `columns` are four vectors of quads.
  void add(const Ints* columns, int8x16_t row) {
    sums = vdotq_laneq_s32(sums, as_signed_bytes(columns[0]), row, 0);
    sums = vdotq_laneq_s32(sums, as_signed_bytes(columns[1]), row, 1);
    sums = vdotq_laneq_s32(sums, as_signed_bytes(columns[2]), row, 2);
    sums = vdotq_laneq_s32(sums, as_signed_bytes(columns[3]), row, 3);
  }

  Ints total() const { return sums; }
};

}  // namespace
}  // namespace heed::kernels::cpu
