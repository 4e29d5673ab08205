// Attention of a few query rows, as in decoding: keys and values are read once, where they lie, for
// all of the rows. The sums are those of attention_tiles-inl.h, in the same order. Included once
// per instruction set.
#include <cstdint>

#include "heed/kernels/cpu/attention/tiles-inl.h"

#if defined(HEED_KERNELS_CPU_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_ATTENTION_ROWS_INL_H_
#undef HEED_KERNELS_CPU_ATTENTION_ROWS_INL_H_
#else
#define HEED_KERNELS_CPU_ATTENTION_ROWS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// Up to this many rows share a pass over keys that are read where they lie.
constexpr int64_t kFewRows = 8;

/// Whether keys of width d and values of width dv can be.
template <typename T>
HWY_INLINE bool readable_in_place(int64_t d, int64_t dv) {
  if constexpr (!is_plain(dtype_of<T>))
    return true;
  else
    return d % static_cast<int64_t>(4 * sizeof(float) / sizeof(T)) == 0 && dv % lanes() == 0;
}

/// Which lanes belong to the blocks of 128 bits behind the first, behind the second, ...
struct BlockMasks {
  BlockMasks() {
    const F32 d;
    for (int64_t block = 1; 4 * block < lanes(); ++block)
      behind[block] = hn::Ge(hn::Iota(d, 0.0f), hn::Set(d, static_cast<float>(4 * block)));
  }
  hn::Mask<F32> behind[HWY_MAX_BYTES / 16 + 1];
};

/// Words of 4 bytes of a key that are transposed at a time.
constexpr int kWords = 16;

/// Words c, c + 1, ... of as many keys as there are lanes, transposed: vector w holds word c + w of
/// every key. What four_columns() does, with each key looked up once.
template <int kCount, typename T>
HWY_INLINE void transposed_words(const BlockMasks& masks, const T* const* keys, int64_t c,
                                 V32* columns) {
  const auto words = [c](const T* key) { return reinterpret_cast<const float*>(key) + c; };
  const F32 d;
  const hn::Repartition<uint64_t, F32> d64;
  V32 quarter[4][kCount / 4];
#pragma GCC unroll 4
  for (int m = 0; m < 4; ++m) {
#pragma GCC unroll 4
    for (int w = 0; w < kCount / 4; ++w) quarter[m][w] = hn::LoadDup128(d, words(keys[m]) + 4 * w);
    for (int64_t block = 1; 4 * block < lanes(); ++block) {
      const float* key = words(keys[4 * block + m]);
#pragma GCC unroll 4
      for (int w = 0; w < kCount / 4; ++w)
        quarter[m][w] =
            hn::IfThenElse(masks.behind[block], hn::LoadDup128(d, key + 4 * w), quarter[m][w]);
    }
  }
#pragma GCC unroll 4
  for (int w = 0; w < kCount / 4; ++w) {
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, quarter[0][w], quarter[1][w]));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, quarter[0][w], quarter[1][w]));
    const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, quarter[2][w], quarter[3][w]));
    const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, quarter[2][w], quarter[3][w]));
    columns[4 * w] = hn::BitCast(d, hn::InterleaveLower(d64, low01, low23));
    columns[4 * w + 1] = hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23));
    columns[4 * w + 2] = hn::BitCast(d, hn::InterleaveLower(d64, high01, high23));
    columns[4 * w + 3] = hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23));
  }
}

/// sums[i] += q[i step] times the numbers of one column.
template <int kRows>
HWY_INLINE void add_column(const float* q, int64_t step, V32 column, V32* sums) {
  const F32 d;
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) sums[i] = hn::MulAdd(hn::Set(d, q[i * step]), column, sums[i]);
}

/// sums[i] += row i of q times words c, ..., c + kCount - 1 of as many keys as there are lanes.
template <int kRows, int kCount>
HWY_INLINE void add_words(const BlockMasks& masks, const float* const* keys, int64_t c,
                          Rows<const float> q, V32* sums) {
  V32 columns[kCount];
  transposed_words<kCount>(masks, keys, c, columns);
#pragma GCC unroll 16
  for (int w = 0; w < kCount; ++w) add_column<kRows>(q.data + c + w, q.step, columns[w], sums);
}

/// The same for bf16, a pair of which is a word.
template <int kRows, int kCount>
HWY_INLINE void add_words(const BlockMasks& masks, const bfloat16* const* keys, int64_t c,
                          Rows<const float> q, V32* sums) {
  const F32 d;
  const U32 du;
  V32 columns[kCount];
  transposed_words<kCount>(masks, keys, c, columns);
#pragma GCC unroll 16
  for (int w = 0; w < kCount; ++w) {
    const auto pair = hn::BitCast(du, columns[w]);
    const auto even = hn::BitCast(d, hn::ShiftLeft<16>(pair));
    const auto odd = hn::BitCast(d, hn::And(pair, hn::Set(du, 0xffff0000u)));
    const float* of_pair = q.data + 2 * (c + w);
    add_column<kRows>(of_pair, q.step, even, sums);
    add_column<kRows>(of_pair + 1, q.step, odd, sums);
  }
}

/// sums[i] += row i of q times number `block` of the blocks of as many keys as there are lanes.
template <int kRows>
HWY_INLINE void add_block(const BlockMasks& masks, const BlockQ8_0* const* keys, int64_t block,
                          Rows<const float> q, V32* sums) {
  const F32 d;
  const I32 di;
  HWY_ALIGN float16 scales[HWY_MAX_BYTES / 4];
  const int8_t* quants[HWY_MAX_BYTES / 4];
  for (int64_t lane = 0; lane < lanes(); ++lane) {
    scales[lane] = keys[lane][block].scale;
    quants[lane] = keys[lane][block].quants.data();
  }
  const V32 scale = load(d, scales);
  const float* of_block = q.data + block * BlockQ8_0::kElements;
#pragma GCC unroll 2
  for (int64_t c = 0; c < BlockQ8_0::kElements / 4; c += 4) {
    V32 columns[4];
    transposed_words<4>(masks, quants, c, columns);
#pragma GCC unroll 4
    for (int w = 0; w < 4; ++w, of_block += 4) {
      const auto four = hn::BitCast(di, columns[w]);
      const auto add = [&](auto quant, int64_t place) HWY_ATTR __attribute__((always_inline)) {
        add_column<kRows>(of_block + place, q.step,
                          hn::Mul(hn::ConvertTo(d, hn::ShiftRight<24>(quant)), scale), sums);
      };
      add(hn::ShiftLeft<24>(four), 0);
      add(hn::ShiftLeft<16>(four), 1);
      add(hn::ShiftLeft<8>(four), 2);
      add(four, 3);
    }
  }
}

/// scores[i, j] = row i of q times key j, for keys [begin, begin + kGroups * lanes) of a block of
/// `count`; those behind the last repeat it.
template <int kRows, int kGroups, typename T>
HWY_INLINE void score_groups(Rows<const float> q, int64_t width, const KeyRows<T>& keys,
                             int64_t begin, int64_t count, Rows<float> scores) {
  const F32 d;
  const BlockMasks masks;
  const T* group[kGroups][HWY_MAX_BYTES / 4];
  V32 sums[kGroups][kRows];
#pragma GCC unroll 2
  for (int g = 0; g < kGroups; ++g) {
    for (int64_t lane = 0; lane < lanes(); ++lane)
      group[g][lane] = keys.row[HWY_MIN(begin + g * lanes() + lane, count - 1)];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sums[g][i] = hn::Zero(d);
  }
  if constexpr (is_plain(dtype_of<T>)) {
    const int64_t words = width * static_cast<int64_t>(sizeof(T) / 2) / 2;
    // With fewer registers, fewer words at a time.
    constexpr int kCount = HWY_TARGET <= HWY_AVX3 ? kWords : 4;
    int64_t c = 0;
    for (; c + kCount <= words; c += kCount)
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) add_words<kRows, kCount>(masks, group[g], c, q, sums[g]);
    for (; c < words; c += 4)
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) add_words<kRows, 4>(masks, group[g], c, q, sums[g]);
  } else {
    for (int64_t block = 0; block < units<T>(width); ++block)
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) add_block<kRows>(masks, group[g], block, q, sums[g]);
  }
#pragma GCC unroll 2
  for (int g = 0; g < kGroups; ++g)
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
      hn::Store(sums[g][i], d, scores.data + i * scores.step + begin + g * lanes());
}

/// scores[i, j] = row i of q times key j, for kRows rows and the first `count` keys.
template <int kRows, typename T>
HWY_NOINLINE void score_rows(Rows<const float> q, int64_t width, const KeyRows<T>& keys,
                             int64_t count, Rows<float> scores) {
  // One chain of sums a row leaves the multipliers idle.
  constexpr int kGroups = HWY_TARGET <= HWY_AVX3 && kRows <= 4 ? 2 : 1;
  int64_t j = 0;
  for (; j + (kGroups - 1) * lanes() < count; j += kGroups * lanes())
    score_groups<kRows, kGroups>(q, width, keys, j, count, scores);
  if (j < count) score_groups<kRows, 1>(q, width, keys, j, count, scores);
}

/// out[i] (+)= the sum of weights[i, j] times value j, for kRows rows and `count` values.
template <int kRows, typename T>
HWY_NOINLINE void mix_rows(Rows<const float> weights, const KeyRows<T>& values, int64_t count,
                           int64_t width, Rows<float> out, bool accumulate) {
  const F32 d;
  constexpr int kVectors = HWY_TARGET <= HWY_AVX3 ? (kRows <= 6 ? 4 : 2) : (kRows <= 4 ? 2 : 1);
  const auto columns = [&](int64_t c, auto vectors) HWY_ATTR __attribute__((always_inline)) {
    constexpr int kCount = decltype(vectors)::value;
    V32 sums[kRows][kCount];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v)
        sums[i][v] =
            accumulate ? hn::Load(d, out.data + i * out.step + c + v * lanes()) : hn::Zero(d);
    for (int64_t j = 0; j < count; ++j) {
      V32 value[kCount];
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) value[v] = load_key(values.row[j], c + v * lanes());
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const auto weight = hn::Set(d, weights.data[i * weights.step + j]);
#pragma GCC unroll 4
        for (int v = 0; v < kCount; ++v) sums[i][v] = hn::MulAdd(weight, value[v], sums[i][v]);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v)
        hn::Store(sums[i][v], d, out.data + i * out.step + c + v * lanes());
  };
  int64_t c = 0;
  for (; c + kVectors * lanes() <= width; c += kVectors * lanes())
    columns(c, std::integral_constant<int, kVectors>());
  for (; c < width; c += lanes()) columns(c, std::integral_constant<int, 1>());
}

/// Calls body(std::integral_constant<int, rows>()) for 1 to kFewRows rows.
template <typename Body>
HWY_INLINE void with_rows(int64_t rows, const Body& body) {
  switch (rows) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    case 3:
      return body(std::integral_constant<int, 3>());
    case 4:
      return body(std::integral_constant<int, 4>());
    case 5:
      return body(std::integral_constant<int, 5>());
    case 6:
      return body(std::integral_constant<int, 6>());
    case 7:
      return body(std::integral_constant<int, 7>());
    default:
      return body(std::integral_constant<int, kFewRows>());
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
