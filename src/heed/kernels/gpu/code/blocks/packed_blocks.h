#pragma once

#include "heed/kernels/gpu/code/blocks/block_planes.h"
#include "heed/kernels/gpu/code/blocks/blocks.h"
#include "heed/kernels/gpu/code/words.h"

// Packed weights of block types as matrices of tensor cores.

namespace heed::kernels::gpu {

/// A sum of 32 products starts from this integer. Below 2^22 in magnitude, the whole is the bits of
/// the f32 kMagic + sum, so that no conversion is needed.
constexpr int32_t kMagicBits = 0x4b400000;
constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23

/// 1 / 2^shift.
constexpr float inverse_power(int shift) { return 1.0f / static_cast<float>(1 << shift); }

/// Bits from bit `from` on of each byte, at bit `to`; mask: those of a byte.
template <int from, int to>
HEED_DEVICE uint32_t moved_bits(uint32_t word, uint32_t mask) {
  if constexpr (from <= to)
    return (word << (to - from)) & (mask << to) * 0x01010101u;
  else
    return (word >> (from - to)) & (mask << to) * 0x01010101u;
}

HEED_DEVICE float low_half(uint32_t word) {
  return heed::gpu::float_of_half(static_cast<uint16_t>(word));
}
HEED_DEVICE float high_half(uint32_t word) {
  return heed::gpu::float_of_half(static_cast<uint16_t>(word >> 16));
}
HEED_DEVICE float half_of(uint32_t word, int i) {
  return i == 0 ? low_half(word) : high_half(word);
}
HEED_DEVICE int byte_of(uint32_t word, int i) { return static_cast<int>(word >> 8 * i & 255); }

/// One unit of a strip: the left operand of a product, and its scales. Index p: row g + 8 p.
template <typename Block>
struct UnitOperand {
  uint32_t quants[4];
  float scale[2];       // that of the block times the sub-scale, but for products of halves
  float offset[2];      // -kMagic * scale
  float sub[2][2];      // of halves
  float minimum[2][2];  // of halves, or once
};

/// Whether the halves of a unit are multiplied one by one. The quants of q2_K are so small that
/// they are multiplied by their sub-scales before.
template <typename Block>
inline constexpr bool kProductsOfHalves =
    Block::kTraits.sub_scale_elements == 16 && Block::kTraits.dtype != DType::q2_K;
/// Minimums of a unit.
template <typename Block>
inline constexpr int kMinimums = !Block::kTraits.has_minimum               ? 0
                                 : Block::kTraits.sub_scale_elements == 16 ? 2
                                                                           : 1;

/// A lane's part of a quad of a strip, in registers.
template <typename Block>
class PackedQuad {
  static constexpr DType kType = Block::kTraits.dtype;
  static constexpr Planes kPlanes = planes_of(kType);
  static constexpr BlockLayout kLayout = kBlockLayout<Block>;
  static constexpr bool kInBlock = Block::kTraits.has_sub_scales();
  static constexpr bool kMinimum = Block::kTraits.has_minimum;
  static constexpr bool kHalves = Block::kTraits.sub_scale_elements == 16;
  static constexpr bool kSix = kType == DType::q3_K || kType == DType::q4_K || kType == DType::q5_K;
  static constexpr int kMain = kPlanes.bytes() ? 16 : kPlanes.nibbles >= 0 ? 8 : 4;  // words

  uint32_t main_[kMain];  // bytes or nibbles, or pairs if there are neither
  uint32_t pairs_[4];
  uint32_t bits_[2];
  uint32_t scales_[4], minimums_[4];  // of units, or word 0 that of the block
  uint32_t subs_[4], high_;

 public:
  /// Loads quad `quad` of a strip.
  template <bool once>
  HEED_DEVICE void load(const std::byte* strip, int quad, int lane) {
    const int group = quad / kLayout.quads, in_group = quad % kLayout.quads, g = lane / 4;
    const std::byte* const from = strip + static_cast<int64_t>(group) * kLayout.bytes;
    constexpr int kPairs = kLayout.pairs, kBits = kLayout.bits;
    if constexpr (kMain == 4)
      load_quants<4, once>(from + kPairs + in_group * 512 + lane * 16, main_);
    else
      for (int i = 0; i < kMain / 4; ++i)
        load_quants<4, once>(from + in_group * kMain * 128 + i * 512 + lane * 16, main_ + 4 * i);
    if constexpr (kMain != 4 && kPlanes.pairs >= 0)
      load_quants<4, once>(from + kPairs + in_group * 512 + lane * 16, pairs_);
    if constexpr (kPlanes.bits >= 0)
      load_quants<2, once>(from + kBits + in_group * 256 + lane * 8, bits_);
    load_scales(from, in_group, g);
  }

  /// Unit u < 4 as an operand.
  HEED_DEVICE UnitOperand<Block> unit(int u) const {
    UnitOperand<Block> to;
    put_quants(u, to.quants);
    for (int p = 0; p < 2; ++p) {
      if constexpr (kInBlock)
        put_block_scales(u, p, to);
      else
        put_unit_scales(u, p, to);
      if constexpr (!kProductsOfHalves<Block>) to.offset[p] = to.scale[p] * -kMagic;
    }
    return to;
  }

 private:
  template <int count, bool once>
  static HEED_DEVICE void load_quants(const std::byte* from, uint32_t* to) {
    if constexpr (once)
      load_words_once<count>(from, to);
    else
      load_words<count>(from, to);
  }

  HEED_DEVICE void load_scales(const std::byte* from, int in_group, int g) {
    constexpr int kScales = kLayout.scales, kMinimumsAt = kLayout.minimums, kSubs = kLayout.subs,
                  kLow = kLayout.low_bits, kHigh = kLayout.high_bits, kScale = kLayout.block_scale;
    if constexpr (!kInBlock) {
      if constexpr (kType == DType::mxfp4)
        load_words<2>(from + kScales + g * 8, scales_);
      else
        load_words<4>(from + kScales + g * 16, scales_);
      if constexpr (kMinimum) load_words<4>(from + kMinimumsAt + g * 16, minimums_);
      return;
    }
    if constexpr (kMinimum) {
      uint32_t both[2];
      load_words<2>(from + kScale + g * 8, both);
      scales_[0] = both[0];
      minimums_[0] = both[1];
    } else {
      load_words<1>(from + kScale + g * 4, scales_);
    }
    if constexpr (kSix) {
      uint32_t low[2], high;
      load_words<2>(from + kLow + in_group * 64 + g * 8, low);
      load_words<1>(from + kHigh + in_group * 32 + g * 4, &high);
      // Words 2 p and 2 p + 1: byte u is the first and second number of row p and unit u.
      subs_[0] = (low[0] & 0x0f0f0f0fu) | ((high << 4) & 0x30303030u);
      subs_[1] = ((low[0] >> 4) & 0x0f0f0f0fu) | ((high << 2) & 0x30303030u);
      subs_[2] = (low[1] & 0x0f0f0f0fu) | (high & 0x30303030u);
      subs_[3] = ((low[1] >> 4) & 0x0f0f0f0fu) | ((high >> 2) & 0x30303030u);
    } else if constexpr (kHalves) {
      load_words<4>(from + kSubs + in_group * 128 + g * 16, subs_);
    } else {
      uint32_t low, high;
      load_words<1>(from + kLow + in_group * 32 + g * 4, &low);
      load_words<1>(from + kHigh + g * 4, &high);
      high >>= 4 * in_group;
      subs_[0] = (low & 0x0f0f0f0fu) | ((high << 4) & 0x30303030u);
      subs_[2] = ((low >> 4) & 0x0f0f0f0fu) | ((high << 2) & 0x30303030u);
    }
  }

  HEED_DEVICE void put_quants(int u, uint32_t (&to)[4]) const {
    if constexpr (kPlanes.bytes()) {
      for (int r = 0; r < 4; ++r) to[r] = main_[4 * u + r];
    } else if constexpr (Block::kTraits.has_codebook()) {
      for (int p = 0; p < 2; ++p) look_up(main_[2 * u + p], to[p], to[p + 2]);
    } else if constexpr (kPlanes.nibbles >= 0) {
      constexpr int kAt = kPlanes.nibbles;
      for (int p = 0; p < 2; ++p) {
        to[p] = moved_bits<0, kAt>(main_[2 * u + p], 15);
        to[p + 2] = moved_bits<4, kAt>(main_[2 * u + p], 15);
      }
    } else {
      put_pairs(main_[u], to);
    }
    if constexpr (kMain != 4 && kPlanes.pairs >= 0) {
      uint32_t low[4];
      put_pairs(pairs_[u], low);
      for (int r = 0; r < 4; ++r) to[r] |= low[r];
    }
    if constexpr (kPlanes.bits >= 0) {
      if (u % 2 == 0)
        add_bits<0>(bits_[u / 2], to);
      else
        add_bits<4>(bits_[u / 2], to);
    }
    if constexpr (kType == DType::q2_K)  // no byte exceeds 3 * 15
      for (int r = 0; r < 4; ++r)
        to[r] *= static_cast<uint32_t>(byte_of(subs_[2 * (r % 2) + u / 2], u % 2 * 2 + r / 2) & 15);
  }

  static HEED_DEVICE void put_pairs(uint32_t word, uint32_t (&to)[4]) {
    constexpr int kAt = kPlanes.pairs < 0 ? 0 : kPlanes.pairs;
    to[0] = moved_bits<0, kAt>(word, 3);
    to[1] = moved_bits<2, kAt>(word, 3);
    to[2] = moved_bits<4, kAt>(word, 3);
    to[3] = moved_bits<6, kAt>(word, 3);
  }

  template <int first>
  static HEED_DEVICE void add_bits(uint32_t word, uint32_t (&to)[4]) {
    constexpr int kAt = kPlanes.bits < 0 ? 0 : kPlanes.bits;
    to[0] |= moved_bits<first, kAt>(word, 1);
    to[1] |= moved_bits<first + 1, kAt>(word, 1);
    to[2] |= moved_bits<first + 2, kAt>(word, 1);
    to[3] |= moved_bits<first + 3, kAt>(word, 1);
  }

  /// The numbers of the codebook for nibbles 0 to 3, and 4 to 7.
  static HEED_DEVICE void look_up(uint32_t codes, uint32_t& first, uint32_t& second) {
    using heed::gpu::permute_bytes;
    constexpr uint32_t k0 = codebook_word<Block>(0), k1 = codebook_word<Block>(1),
                       k2 = codebook_word<Block>(2), k3 = codebook_word<Block>(3);
    // Bit 3 of a code chooses between bytes of the lower and the upper half of the codebook.
    const uint32_t which = ((codes >> 1) & 0x44444444u) | 0x32103210u;
    first = permute_bytes(permute_bytes(k0, k1, codes), permute_bytes(k2, k3, codes), which);
    codes >>= 16;
    second = permute_bytes(permute_bytes(k0, k1, codes), permute_bytes(k2, k3, codes), which >> 16);
  }

  HEED_DEVICE void put_unit_scales(int u, int p, UnitOperand<Block>& to) const {
    if constexpr (kType == DType::mxfp4) {
      BlockMXFP4 block;
      block.exponent = static_cast<uint8_t>(byte_of(scales_[u / 2], u % 2 * 2 + p));
      to.scale[p] = scale_of(block);
    } else {
      constexpr float kUnit = inverse_power(kPlanes.shift);
      to.scale[p] = half_of(scales_[u], p) * kUnit;
    }
    if constexpr (kMinimum) to.minimum[p][0] = half_of(minimums_[u], p);
  }

  HEED_DEVICE void put_block_scales(int u, int p, UnitOperand<Block>& to) const {
    constexpr float kUnit = inverse_power(kPlanes.shift);
    const float scale = half_of(scales_[0], p) * kUnit;
    if constexpr (kType == DType::q2_K) {
      to.scale[p] = scale;
      const float minimum = -half_of(minimums_[0], p);
      for (int half = 0; half < 2; ++half)
        to.minimum[p][half] =
            minimum * static_cast<float>(byte_of(subs_[2 * p + u / 2], u % 2 * 2 + half) >> 4);
    } else if constexpr (kType == DType::q6_K) {
      to.scale[p] = scale;
      for (int half = 0; half < 2; ++half)
        to.sub[p][half] = static_cast<float>(
            static_cast<int8_t>(byte_of(subs_[2 * p + u / 2], u % 2 * 2 + half)));
    } else if constexpr (kType == DType::q3_K) {
      to.scale[p] = scale;
      for (int half = 0; half < 2; ++half)
        to.sub[p][half] = static_cast<float>(byte_of(subs_[2 * p + half], u) - 32);
    } else {
      constexpr int kLowest = kType == DType::iq4_xs ? -32 : 0;
      // Exact: a significand of 11 bits times an integer of 6.
      to.scale[p] = scale * static_cast<float>(byte_of(subs_[2 * p], u) + kLowest);
      if constexpr (kMinimum)
        to.minimum[p][0] =
            -half_of(minimums_[0], p) * static_cast<float>(byte_of(subs_[2 * p + 1], u));
    }
  }
};

/// part[2 p + i] = what the unit adds to the element of row g + 8 p and column 2 t + i of c, before
/// the scale of a's unit: see matmul_blocks.h. b: a's quants of column g; sums[i][half or 0]: those
/// of a's integers. Of `columns` columns 2 t + i, 1 or 2, parts are computed.
template <typename Block, int columns>
HEED_DEVICE void multiply_unit(const UnitOperand<Block>& w, const uint32_t (&b)[2],
                               const float (&sums)[2][2], float (&part)[4]) {
  using namespace heed::gpu;
  int32_t d[4] = {kMagicBits, kMagicBits, kMagicBits, kMagicBits};
  if constexpr (kProductsOfHalves<Block>) {
    int32_t second[4] = {kMagicBits, kMagicBits, kMagicBits, kMagicBits};
    mma_m16n8k16_s8(d, {w.quants[0], w.quants[1]}, b[0]);
    mma_m16n8k16_s8(second, {w.quants[2], w.quants[3]}, b[1]);
    for (int i = 0; i < 4; ++i) {
      if (i % 2 >= columns) continue;
      const float x = float_of_bits(static_cast<uint32_t>(d[i])) - kMagic;
      const float y = float_of_bits(static_cast<uint32_t>(second[i])) - kMagic;
      // An integer of at most 24 bits: exact.
      const float dot = fmaf(w.sub[i / 2][1], y, w.sub[i / 2][0] * x);
      part[i] = fmaf(w.scale[i / 2], dot, 0.0f);
    }
  } else {
    mma_m16n8k32_s8(d, w.quants, b);
    for (int i = 0; i < 4; ++i) {
      if (i % 2 >= columns) continue;
      const float x = float_of_bits(static_cast<uint32_t>(d[i]));
      if constexpr (Block::kTraits.dtype == DType::mxfp4)  // whose offset would overflow
        part[i] = fmaf(w.scale[i / 2], x - kMagic, 0.0f);
      else  // the offset is exact, so that scale * sum is rounded once
        part[i] = fmaf(w.scale[i / 2], x, w.offset[i / 2]);
    }
  }
  constexpr int kCount = kMinimums<Block>;
  for (int i = 0; i < 4; ++i) {
    if (i % 2 >= columns) continue;
    for (int half = 0; half < kCount; ++half)
      part[i] = fmaf(w.minimum[i / 2][half], sums[i % 2][half], part[i]);
  }
}

}  // namespace heed::kernels::gpu
