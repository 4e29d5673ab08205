// Packing for products with tiles of bf16 (attention_forward_amx.h). Included once per instruction
// set.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "heed/kernels/cpu/attention/forward_amx.h"
#include "heed/kernels/cpu/attention/rows-inl.h"

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

/// Room of this thread for `elements` numbers of bf16.
HWY_INLINE bfloat16* scratch_pairs(cpu::Slot slot, int64_t elements) {
  return reinterpret_cast<bfloat16*>(cpu::scratch(slot, (elements + 1) / 2));
}

/// In how many parts queries [.., width] of T, scaled, are multiplied: of f32 all three that there
/// are. Of bf16 one, unless the scale leaves them more digits.
template <typename T>
HWY_INLINE int query_parts(float scale) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return 3;
  } else {
    int exponent;
    return std::frexp(scale, &exponent) == 0.5f ? 1 : 2;
  }
}

/// Weights of values in bf16 need not be more exact than these by far.
template <typename T>
constexpr int kWeightParts = sizeof(T) == sizeof(float) ? 2 : 1;

HWY_INLINE cpu::TileRows split(Rows<const float> from, int64_t rows, int64_t width, int parts,
                               cpu::Slot slot) {
  const cpu::TileRows to{scratch_pairs(slot, parts * rows * width), width, rows * width, parts};
  cpu::split_rows(from.data, from.step, rows, width, to);
  return to;
}

/// The first `count` keys of a block, as the right factor of scores; what is behind the last, up to
/// a whole panel, is undefined.
HWY_INLINE cpu::TilePanels pack_key_panels(const KeyRows<bfloat16>& from, int64_t width,
                                           int64_t count, cpu::Slot slot) {
  constexpr int64_t kPairRow = 2 * cpu::kTileCols;
  const int64_t words = width / 2;
  const cpu::TilePanels to{scratch_pairs(slot, cpu::kKeyBlock * width), words * kPairRow};
  const BlockMasks masks;
  for (int64_t j = 0; j < count; j += lanes()) {
    const bfloat16* keys[HWY_MAX_BYTES / 4];
    for (int64_t lane = 0; lane < lanes(); ++lane)
      keys[lane] = from.row[HWY_MIN(j + lane, count - 1)];
    bfloat16* place = to.data + j / cpu::kTileCols * to.step + j % cpu::kTileCols * 2;
    for (int64_t c = 0; c < words; c += kWords) {
      V32 columns[kWords];
      transposed_words<kWords>(masks, keys, c, columns);
      for (int64_t w = 0; w < kWords; ++w, place += kPairRow)
        hn::Store(columns[w], F32(), reinterpret_cast<float*>(place));
    }
  }
  return to;
}

/// The first `count` values of a block, as the right factor of what the weights mix.
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
