#include <type_traits>

#include "heed/kernels/cpu/attention/work.h"
#include "heed/kernels/cpu/simd/with_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/attention/decode_attention.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/attention/decode_attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Words of 4 bytes of a key that are transposed at a time.
constexpr int kWords = 16;

/// sums[i] += q[i stride] times one column.
template <int kRows>
HWY_INLINE void add_column(const float* q, int64_t stride, V32 column, V32* sums) {
  const F32 d;
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) sums[i] = hn::MulAdd(hn::Set(d, q[i * stride]), column, sums[i]);
}

/// sums[i] += row i of q times words c, ..., c + kCount - 1 of as many keys as there are lanes.
template <int kRows, int kCount>
HWY_INLINE void add_words(const BlockMasks& masks, const float* const* keys, int64_t c,
                          Rows<const float> q, V32* sums) {
  V32 columns[kCount];
  transposed_words<kCount>(masks, keys, c, columns);
#pragma GCC unroll 16
  for (int w = 0; w < kCount; ++w) add_column<kRows>(q.data + c + w, q.stride, columns[w], sums);
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
    add_column<kRows>(of_pair, q.stride, even, sums);
    add_column<kRows>(of_pair + 1, q.stride, odd, sums);
  }
}

/// sums[i] += row i of q times block `block` of as many keys as there are lanes.
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
      const auto add = [&](auto quant, int64_t at) HEED_LANES {
        add_column<kRows>(of_block + at, q.stride,
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
/// `count`; those after the last repeat it.
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
    // Fewer words at a time where there are fewer registers.
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
      hn::Store(sums[g][i], d, scores.data + i * scores.stride + begin + g * lanes());
}

/// scores[i, j] = row i of q times key j, for kRows rows and the first `count` keys.
template <int kRows, typename T>
HWY_NOINLINE void score_constant_rows(Rows<const float> q, int64_t width, const KeyRows<T>& keys,
                                      int64_t count, Rows<float> scores) {
  // Two groups of keys: one chain of sums per row would leave the multipliers idle.
  constexpr int kGroups = HWY_TARGET <= HWY_AVX3 && kRows <= 4 ? 2 : 1;
  int64_t j = 0;
  for (; j + (kGroups - 1) * lanes() < count; j += kGroups * lanes())
    score_groups<kRows, kGroups>(q, width, keys, j, count, scores);
  if (j < count) score_groups<kRows, 1>(q, width, keys, j, count, scores);
}

/// out[i] (+)= the sum of weights[i, j] times value j, for kRows rows and `count` values.
template <int kRows, typename T>
HWY_NOINLINE void accumulate_constant_rows(Rows<const float> weights, const KeyRows<T>& values,
                                           int64_t count, int64_t width, Rows<float> out,
                                           bool accumulate) {
  const F32 d;
  constexpr int kVectors = HWY_TARGET <= HWY_AVX3 ? (kRows <= 6 ? 4 : 2) : (kRows <= 4 ? 2 : 1);
  const auto columns = [&](int64_t c, auto vectors) HEED_LANES {
    constexpr int kCount = decltype(vectors)::value;
    V32 sums[kRows][kCount];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v)
        sums[i][v] =
            accumulate ? hn::Load(d, out.data + i * out.stride + c + v * lanes()) : hn::Zero(d);
    for (int64_t j = 0; j < count; ++j) {
      V32 value[kCount];
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) value[v] = load_key(values.row[j], c + v * lanes());
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const auto weight = hn::Set(d, weights.data[i * weights.stride + j]);
#pragma GCC unroll 4
        for (int v = 0; v < kCount; ++v) sums[i][v] = hn::MulAdd(weight, value[v], sums[i][v]);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v)
        hn::Store(sums[i][v], d, out.data + i * out.stride + c + v * lanes());
  };
  int64_t c = 0;
  for (; c + kVectors * lanes() <= width; c += kVectors * lanes())
    columns(c, std::integral_constant<int, kVectors>());
  for (; c < width; c += lanes()) columns(c, std::integral_constant<int, 1>());
}

}  // namespace

template <typename T>
void score_rows(int64_t rows, Rows<const float> q, int64_t width, const KeyRows<T>& keys,
                int64_t count, Rows<float> scores) {
  cpu::with_rows<kDecodeRows>(rows, [&](auto constant) {
    score_constant_rows<decltype(constant)::value>(q, width, keys, count, scores);
  });
}

template <typename T>
void accumulate_values(int64_t rows, Rows<const float> weights, const KeyRows<T>& values,
                       int64_t count, int64_t width, Rows<float> out, bool accumulate) {
  cpu::with_rows<kDecodeRows>(rows, [&](auto constant) {
    accumulate_constant_rows<decltype(constant)::value>(weights, values, count, width, out,
                                                        accumulate);
  });
}

template void score_rows(int64_t, Rows<const float>, int64_t, const KeyRows<float>&, int64_t,
                         Rows<float>);
template void score_rows(int64_t, Rows<const float>, int64_t, const KeyRows<bfloat16>&, int64_t,
                         Rows<float>);
template void score_rows(int64_t, Rows<const float>, int64_t, const KeyRows<BlockQ8_0>&, int64_t,
                         Rows<float>);
template void accumulate_values(int64_t, Rows<const float>, const KeyRows<float>&, int64_t, int64_t,
                                Rows<float>, bool);
template void accumulate_values(int64_t, Rows<const float>, const KeyRows<bfloat16>&, int64_t,
                                int64_t, Rows<float>, bool);
template void accumulate_values(int64_t, Rows<const float>, const KeyRows<BlockQ8_0>&, int64_t,
                                int64_t, Rows<float>, bool);

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();
