// Packing for products with bf16 tiles (forward_amx.h). Included once per instruction set.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "heed/kernels/cpu/attention/forward_amx.h"
#include "heed/kernels/cpu/attention/tiles-inl.h"

#if defined(HEED_KERNELS_CPU_ATTENTION_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_ATTENTION_PAIRS_INL_H_
#undef HEED_KERNELS_CPU_ATTENTION_PAIRS_INL_H_
#else
#define HEED_KERNELS_CPU_ATTENTION_PAIRS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// Whether attention to keys of T goes through tiles.
template <typename T>
HWY_INLINE bool has_tiles(int64_t d, int64_t dv) {
  if constexpr (HWY_TARGET <= HWY_AVX3 && std::is_same_v<T, bfloat16>)
    return d % cpu::kTileDepth == 0 && dv % cpu::kTileCols == 0 && cpu::has_attention_tiles();
  else
    return false;
}

/// Room of this thread for `elements` bf16 numbers.
HWY_INLINE bfloat16* scratch_pairs(cpu::Slot slot, int64_t elements) {
  return reinterpret_cast<bfloat16*>(cpu::scratch(slot, (elements + 1) / 2));
}

/// The number of bf16 parts of scaled queries: three for f32; for bf16 one if the scale is a power
/// of two, which adds no digits, otherwise two.
HWY_INLINE int query_parts(bool f32, float scale) {
  if (f32) return 3;
  int exponent;
  return std::frexp(scale, &exponent) == 0.5f ? 1 : 2;
}

/// The number of bf16 parts of weights beside f32 or bf16 queries. More digits would be lost beside
/// the bf16 values.
HWY_INLINE int weight_parts(bool f32) { return f32 ? 2 : 1; }

/// Splits rows into bf16 parts in this thread's `slot`.
HWY_INLINE cpu::TileRows bf16_parts(Rows<const float> from, int64_t rows, int64_t width, int parts,
                                    cpu::Slot slot) {
  const cpu::TileRows to{scratch_pairs(slot, parts * rows * width), width, rows * width, parts};
  cpu::split_into_bf16(from.data, from.stride, rows, width, to);
  return to;
}

/// Packs the first `count` keys of a block as the right factor of scores; what follows the last, up
/// to a whole panel, is undefined.
HWY_INLINE cpu::TilePanels pack_key_panels(const KeyRows<bfloat16>& from, int64_t width,
                                           int64_t count, cpu::Slot slot) {
  constexpr int64_t kPairRow = 2 * cpu::kTileCols;
  constexpr int kWords = 16;  // of a key, transposed at a time
  const int64_t words = width / 2;
  const cpu::TilePanels to{scratch_pairs(slot, cpu::kKeyBlock * width), words * kPairRow};
  const BlockMasks masks;
  for (int64_t j = 0; j < count; j += lanes()) {
    const bfloat16* keys[HWY_MAX_BYTES / 4];
    for (int64_t lane = 0; lane < lanes(); ++lane)
      keys[lane] = from.row[HWY_MIN(j + lane, count - 1)];
    bfloat16* panel = to.data + j / cpu::kTileCols * to.stride + j % cpu::kTileCols * 2;
    for (int64_t c = 0; c < words; c += kWords) {
      V32 columns[kWords];
      transposed_words<kWords>(masks, keys, c, columns);
      for (int64_t w = 0; w < kWords; ++w, panel += kPairRow)
        hn::Store(columns[w], F32(), reinterpret_cast<float*>(panel));
    }
  }
  return to;
}

/// Packs the first `count` values of a block as the right factor of the weights.
HWY_INLINE cpu::TilePanels pack_value_panels(const KeyRows<bfloat16>& from, int64_t width,
                                             int64_t count, cpu::Slot slot) {
  const cpu::TilePanels to{scratch_pairs(slot, cpu::kKeyBlock * width),
                           cpu::kKeyBlock * cpu::kTileCols};
  cpu::pack_row_pairs(from.row, count, width, to);
  return to;
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
