#include "heed/kernels/gpu/code/blocks/pack_blocks.h"

#include "heed/kernels/gpu/code/blocks/packed_blocks.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// The byte that is multiplied, or the code of a codebook.
template <typename Block>
HEED_DEVICE uint32_t packed_byte(const Block& block, int i) {
  if constexpr (Block::kTraits.has_codebook()) {
    return static_cast<uint32_t>(block.code(i));
  } else {
    constexpr int kShift = planes_of(Block::kTraits.dtype).shift;
    return static_cast<uint32_t>(quant_in(block, i)) << kShift & 255;
  }
}

/// The bits of an f16; NaN for infinity.
HEED_DEVICE uint32_t finite_bits(float16 number) {
  return (number.bits & 0x7fff) == 0x7c00 ? 0x7e00u : number.bits;
}

/// Bits [from, from + count) of each byte, moved to bit `to`.
HEED_DEVICE uint32_t plane_bits(uint32_t bytes, int from, int count, int to) {
  return ((bytes >> from) & ((1u << count) - 1) * 0x01010101u) << to;
}

/// What a lane reads of a quad.
template <typename Block>
class Packer {
  static constexpr DType kType = Block::kTraits.dtype;
  static constexpr Planes kPlanes = planes_of(kType);
  static constexpr BlockLayout kLayout = kBlockLayout<Block>;
  static constexpr int kUnits = static_cast<int>(Block::kElements) / kUnitElements;  // of a block

 public:
  HEED_DEVICE Packer(const PackBlocksArguments& in, int strip, int quad, int lane)
      : lane_(lane),
        in_group_(quad % kLayout.quads),
        to_(in.to + (static_cast<int64_t>(strip) * groups_of(in) + quad / kLayout.quads) *
                        kLayout.bytes) {
    for (int p = 0; p < 2; ++p) {
      const int row = strip * kStripRows + lane / 4 + 8 * p;
      for (int u = 0; u < kQuadUnits; ++u) {
        const int unit = quad * kQuadUnits + u;
        const bool exists = row < in.rows && unit < in.units;
        exists_[p][u] = exists;
        // What does not exist is loaded from the first block, and not used.
        blocks_[p][u] =
            reinterpret_cast<const Block*>(in.weight + (exists ? row * in.row_bytes : 0)) +
            (exists ? unit / kUnits : 0);
        const int first = unit % kUnits * kUnitElements + lane % 4 * 4;
        for (int half = 0; half < 2; ++half) {
          uint32_t word = 0;
          for (int i = 0; i < 4; ++i)
            word |= packed_byte(*blocks_[p][u], first + 16 * half + i) << 8 * i;
          words_[u][p + 2 * half] = exists ? word : 0;
        }
      }
    }
  }

  static HEED_DEVICE int groups_of(const PackBlocksArguments& in) {
    constexpr int kGroupUnits = kLayout.quads * kQuadUnits;
    return (in.units + kGroupUnits - 1) / kGroupUnits;
  }

  HEED_DEVICE void put_quants() const {
    constexpr int kPairs = kLayout.pairs, kBits = kLayout.bits;
    if constexpr (kPlanes.bytes()) {
      for (int u = 0; u < kQuadUnits; ++u)
        store_words(to_ + in_group_ * 2048 + u * 512 + lane_ * 16, words_[u][0], words_[u][1],
                    words_[u][2], words_[u][3]);
    } else if constexpr (kPlanes.nibbles >= 0) {
      for (int pair = 0; pair < 2; ++pair)
        store_words(to_ + in_group_ * 1024 + pair * 512 + lane_ * 16, nibbles(2 * pair, 0),
                    nibbles(2 * pair, 1), nibbles(2 * pair + 1, 0), nibbles(2 * pair + 1, 1));
    }
    if constexpr (kPlanes.pairs >= 0)
      store_words(to_ + kPairs + in_group_ * 512 + lane_ * 16, pairs(0), pairs(1), pairs(2),
                  pairs(3));
    if constexpr (kPlanes.bits >= 0)
      *reinterpret_cast<Words2*>(to_ + kBits + in_group_ * 256 + lane_ * 8) = {{bits(0), bits(2)}};
  }

  /// By one lane of the four with the same rows.
  HEED_DEVICE void put_scales() const {
    const int g = lane_ / 4;
    constexpr int kScales = kLayout.scales, kMinimumsAt = kLayout.minimums;
    if constexpr (kUnits > 1) {
      put_sub_scales(g);
      if (in_group_ == 0) put_block_scale(g);
    } else {
      for (int u = 0; u < kQuadUnits; ++u)
        for (int p = 0; p < 2; ++p) {
          const Block& block = *blocks_[p][u];
          const bool exists = exists_[p][u];
          const int at = g * 8 + u * 2 + p;
          if constexpr (kType == DType::mxfp4)
            reinterpret_cast<uint8_t*>(to_ + kScales)[at] = exists ? block.exponent : uint8_t{0};
          else
            halves_at(kScales)[at] = static_cast<uint16_t>(exists ? finite_bits(block.scale) : 0);
          if constexpr (Block::kTraits.has_minimum)
            halves_at(kMinimumsAt)[at] =
                static_cast<uint16_t>(exists ? finite_bits(block.minimum) : 0);
        }
    }
  }

 private:
  HEED_DEVICE uint16_t* halves_at(int offset) const {
    return reinterpret_cast<uint16_t*>(to_ + offset);
  }

  HEED_DEVICE uint32_t nibbles(int u, int p) const {
    const uint32_t first = words_[u][p], second = words_[u][p + 2];
    if constexpr (Block::kTraits.has_codebook()) {
      uint32_t word = 0;
      for (int i = 0; i < 4; ++i)
        word |= (first >> 8 * i & 15) << 4 * i | (second >> 8 * i & 15) << (16 + 4 * i);
      return word;
    } else {
      return plane_bits(first, kPlanes.nibbles, 4, 0) | plane_bits(second, kPlanes.nibbles, 4, 4);
    }
  }
  HEED_DEVICE uint32_t pairs(int u) const {
    uint32_t word = 0;
    for (int r = 0; r < 4; ++r) word |= plane_bits(words_[u][r], kPlanes.pairs, 2, 2 * r);
    return word;
  }
  HEED_DEVICE uint32_t bits(int u) const {
    uint32_t word = 0;
    for (int i = 0; i < 8; ++i) word |= plane_bits(words_[u + i / 4][i % 4], kPlanes.bits, 1, i);
    return word;
  }

  HEED_DEVICE void put_block_scale(int g) const {
    constexpr int kAt = kLayout.block_scale, kNumbers = Block::kTraits.has_minimum ? 4 : 2;
    for (int p = 0; p < 2; ++p) {
      const Block& block = *blocks_[p][0];
      const bool exists = exists_[p][0];
      uint16_t* const to = halves_at(kAt) + g * kNumbers + p;
      to[0] = static_cast<uint16_t>(exists ? finite_bits(block.scale) : 0);
      if constexpr (Block::kTraits.has_minimum)
        to[2] = static_cast<uint16_t>(exists ? finite_bits(block.minimum) : 0);
    }
  }

  /// Number `second` of a unit of a row, as it is stored: see block_planes.h.
  HEED_DEVICE uint32_t sub(int u, int p, int second) const {
    if (!exists_[p][u]) return 0;
    const Block* const block = blocks_[p][u];
    // The unit's first element, or that of its second half.
    const int at = (in_group_ * kQuadUnits + u) * kUnitElements + 16 * second;
    if constexpr (kType == DType::q2_K)
      return static_cast<uint32_t>(block->scales[static_cast<size_t>(at / 16)]);
    else if constexpr (kType == DType::q6_K)
      return static_cast<uint32_t>(block->sub_scale(at)) & 255;
    else if constexpr (kType == DType::q3_K || kType == DType::iq4_xs)
      return static_cast<uint32_t>(block->sub_scale(at) + 32);
    else
      return static_cast<uint32_t>(second ? -block->sub_minimum(at) : block->sub_scale(at));
  }

  HEED_DEVICE void put_sub_scales(int g) const {
    constexpr int kSubs = kLayout.subs, kLow = kLayout.low_bits, kHigh = kLayout.high_bits;
    auto* const bytes = reinterpret_cast<uint8_t*>(to_);
    for (int u = 0; u < kQuadUnits; ++u) {
      uint32_t numbers[4];  // row, then number
      for (int i = 0; i < 4; ++i) numbers[i] = sub(u, i / 2, i % 2);
      if constexpr (kType == DType::q2_K || kType == DType::q6_K) {
        for (int i = 0; i < 4; ++i)
          bytes[kSubs + in_group_ * 128 + g * 16 + i / 2 * 8 + u * 2 + i % 2] =
              static_cast<uint8_t>(numbers[i]);
      } else if constexpr (kType == DType::iq4_xs) {
        bytes[kLow + in_group_ * 32 + g * 4 + u] =
            static_cast<uint8_t>((numbers[0] & 15) | (numbers[2] & 15) << 4);
      } else {
        for (int p = 0; p < 2; ++p)
          bytes[kLow + in_group_ * 64 + g * 8 + p * 4 + u] =
              static_cast<uint8_t>((numbers[2 * p] & 15) | (numbers[2 * p + 1] & 15) << 4);
        uint32_t high = 0;
        for (int i = 0; i < 4; ++i) high |= (numbers[i] >> 4) << 2 * i;
        bytes[kHigh + in_group_ * 32 + g * 4 + u] = static_cast<uint8_t>(high);
      }
    }
    if constexpr (kType == DType::iq4_xs)
      if (in_group_ == 0) put_shared_high_bits(g);
  }

  /// iq4_xs: those of both quads.
  HEED_DEVICE void put_shared_high_bits(int g) const {
    constexpr int kHigh = kLayout.high_bits;
    for (int u = 0; u < kQuadUnits; ++u) {
      uint32_t high = 0;
      for (int i = 0; i < 4; ++i) {
        const Block* const block = blocks_[i % 2][0];
        const int at = (u + i / 2 * kQuadUnits) * kUnitElements;
        if (exists_[i % 2][0]) high |= static_cast<uint32_t>(block->sub_scale(at) + 32) >> 4 << 2 * i;
      }
      reinterpret_cast<uint8_t*>(to_)[kHigh + g * 4 + u] = static_cast<uint8_t>(high);
    }
  }

  const int lane_, in_group_;
  std::byte* const to_;
  const Block* blocks_[2][kQuadUnits];
  bool exists_[2][kQuadUnits];
  uint32_t words_[kQuadUnits][4];
};

template <typename Block>
HEED_DEVICE void pack_quad(const PackBlocksArguments& in) {
  const int quads = Packer<Block>::groups_of(in) * kBlockLayout<Block>.quads;
  const int64_t i = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  const int strips = (in.rows + kStripRows - 1) / kStripRows, lane = static_cast<int>(i % 32);
  if (i >= int64_t{32} * strips * quads) return;
  const Packer<Block> packer(in, static_cast<int>(i / 32 / quads), static_cast<int>(i / 32 % quads),
                             lane);
  packer.put_quants();
  if (lane % 4 == 0) packer.put_scales();
}

}  // namespace

#define HEED_PACK_BLOCKS(name, Block) \
  HEED_GPU_KERNEL(pack_blocks_##name, PackBlocksArguments, in) { pack_quad<Block>(in); }
HEED_FOR_BLOCK_TYPES(HEED_PACK_BLOCKS)

}  // namespace heed::kernels::gpu
