#pragma once

#include <cstdint>

#include "heed/tensor/blocks.h"

// How packed weights of block types lie in the memory of a GPU.
//
// Tensor cores multiply 16 rows (a strip) by 32 elements (a unit). Lane 4 g + t of a warp holds
// rows g and g + 8, of each elements [4 t, 4 t + 4) and [16 + 4 t, 16 + 4 t + 4) of the unit: four
// registers of four bytes. Memory has what a lane needs of four units (a quad) side by side, as
// much as there are bits in a block; strips follow each other, in each the groups: a quad, or the
// two quads of a block of 256 elements. Rows and units that a weight lacks are zeros.
//
// A group has several planes one after the other, each first of quad 0, then of quad 1:
//   bytes       [unit][lane][register]: quants
//   nibbles     [unit pair][lane][unit][row]: a word has in bits 0-3 of each byte four bits of the
//               first register of the row, in bits 4-7 of the second one; of types with a codebook,
//               nibbles 0-3 and 4-7 are those of the registers
//   pairs       [lane][unit]: bits 2 r of each byte of a word for register r
//   bits        [lane][unit pair]: bit r + 4 (unit % 2) of each byte for register r
// and those of scales, [g][...]:
//   scales, minimums    [unit][row] f16; of MXFP4 the byte of an exponent
//   sub-scales          of types with halves: [row][unit][half] bytes (of q2_K with the minimum)
//   low bits            of sub-scales of 6 bits: [row][unit] a byte with two of them, that of the
//                       scale and the minimum or those of both halves; of iq4_xs [unit] a byte with
//                       those of both rows
//   high bits           [unit] a byte with bits 4 and 5 of the four numbers of a unit; of iq4_xs
//                       [unit] a byte with those of quad 0 in bits 0-3, of quad 1 in bits 4-7
//   scale, minimum      of blocks of 256, for both quads: [row] f16

namespace heed::kernels::gpu {

constexpr int kStripRows = 16, kUnitElements = 32, kQuadUnits = 4;

/// The bits of the byte that is multiplied, and in which planes they lie: the lowest bit, or -1 for
/// a plane that there is not. The byte is quant * 2^shift; with a codebook, planes have codes.
struct Planes {
  int shift = 0;
  int nibbles = -1, pairs = -1, bits = -1;
  constexpr bool bytes() const { return nibbles < 0 && pairs < 0; }
};

constexpr Planes planes_of(DType type) {
  switch (type) {
    case DType::q4_0:
      return {.shift = 4, .nibbles = 4};
    case DType::q5_0:
      return {.shift = 3, .nibbles = 4, .bits = 3};
    case DType::q5_1:
    case DType::q5_K:
      return {.nibbles = 0, .bits = 4};
    case DType::q2_K:
      return {.pairs = 0};
    case DType::q3_K:
      return {.shift = 5, .pairs = 6, .bits = 5};
    case DType::q6_K:
      return {.shift = 2, .nibbles = 4, .pairs = 2};
    case DType::q8_0:
      return {};
    default:  // q4_1, q4_K and those with a codebook
      return {.nibbles = 0};
  }
}

/// Offsets of the planes of a group; where a type lacks one, the next begins.
struct BlockLayout {
  int quads;           // of a group
  int quant_bytes[3];  // of a quad in the planes of bytes or nibbles, of pairs and of bits
  int pairs, bits, scales, minimums, subs, low_bits, high_bits, block_scale, bytes;

  constexpr explicit BlockLayout(const BlockTraits& type) : quads(type.has_sub_scales() ? 2 : 1) {
    const Planes planes = planes_of(type.dtype);
    const bool in_block = type.has_sub_scales(), halves = type.sub_scale_elements == 16;
    const bool six =
        type.dtype == DType::q3_K || type.dtype == DType::q4_K || type.dtype == DType::q5_K;
    const bool signed_six = type.dtype == DType::iq4_xs;
    const int scale = type.dtype == DType::mxfp4 ? 1 : 2;
    quant_bytes[0] = planes.bytes() ? 2048 : planes.nibbles >= 0 ? 1024 : 0;
    quant_bytes[1] = planes.pairs >= 0 ? 512 : 0;
    quant_bytes[2] = planes.bits >= 0 ? 256 : 0;
    int at = quads * quant_bytes[0];
    const auto plane = [&](int of, bool exists) constexpr {
      const int begin = at;
      if (exists) at += of;
      return begin;
    };
    pairs = plane(quads * 512, planes.pairs >= 0);
    bits = plane(quads * 256, planes.bits >= 0);
    scales = plane(64 * scale, !in_block);
    minimums = plane(128, !in_block && type.has_minimum);
    subs = plane(quads * 128, halves && !six);
    low_bits = plane(quads * (signed_six ? 32 : 64), six || signed_six);
    high_bits = plane((signed_six ? 1 : quads) * 32, six || signed_six);
    block_scale = plane(type.has_minimum ? 64 : 32, in_block);
    bytes = at;
  }
};

template <typename Block>
inline constexpr BlockLayout kBlockLayout{Block::kTraits};

static_assert([]<typename... Blocks>(TypeList<Blocks...>) {
  // As many bytes as the blocks have.
  return ((kBlockLayout<Blocks>.bytes ==
           static_cast<int>(kStripRows * sizeof(Blocks)) * (Blocks::kElements == 32 ? 4 : 1)) &&
          ...);
}(BlockTypes()));

}  // namespace heed::kernels::gpu
