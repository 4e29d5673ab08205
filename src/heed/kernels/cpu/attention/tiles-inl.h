// The steps of attention's tiles: products of small packed matrices, transposition, packing.
// Included once per instruction set.
#include <cstdint>
#include <cstring>

#include "heed/kernels/cpu/attention/work.h"
#include "heed/kernels/cpu/simd/simd-inl.h"
#include "heed/kernels/cpu/simd/stored-inl.h"

#if defined(HEED_KERNELS_CPU_ATTENTION_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_ATTENTION_TILES_INL_H_
#undef HEED_KERNELS_CPU_ATTENTION_TILES_INL_H_
#else
#define HEED_KERNELS_CPU_ATTENTION_TILES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(F32())); }
HWY_INLINE int64_t vectors_for(int64_t count) { return (count + lanes() - 1) / lanes(); }
HWY_INLINE int64_t padded(int64_t count) { return vectors_for(count) * lanes(); }

/// The left factor of a product: element (i, k) is data[i * row_stride + k * col_stride], so that a
/// transposed matrix only differs in its strides.
struct Left {
  const float* data;
  int64_t row_stride, col_stride;
};

/// A matrix of whole vectors: rows `stride` floats apart.
template <typename T>
struct Rows {
  T* data;
  int64_t stride;
};

/// c = a b, or c += a b, for at most kPanelRows rows of c and `vectors` vectors of columns; `count`
/// is the inner size. Each element is one sum in the order of the inner index, whatever the sizes.
/// Defined in product.cc.
void product(int64_t rows, int64_t vectors, int64_t count, Left a, Rows<const float> b,
             Rows<float> c, bool accumulate);

/// to[0, padded(width)) = factor * from[0, width) in f32, padded with zeros.
template <typename T>
HWY_INLINE void pack_row(const T* from, int64_t width, float factor, float* to) {
  const F32 d;
  const auto scale = hn::Set(d, factor);
  int64_t c = 0;
  for (; c + lanes() <= width; c += lanes())
    hn::Store(hn::Mul(load(d, from + c), scale), d, to + c);
  if (c < width) {
    const auto tail = load_first(d, from + c, static_cast<size_t>(width - c));
    hn::Store(hn::Mul(tail, scale), d, to + c);
  }
}

/// to[0, width) = factor * from[0, width) in T; `from` is padded.
template <typename T>
HWY_INLINE void unpack_row(const float* from, int64_t width, float factor, T* to) {
  const F32 d;
  const auto scale = hn::Set(d, factor);
  int64_t c = 0;
  for (; c + lanes() <= width; c += lanes())
    store(d, hn::Mul(hn::Load(d, from + c), scale), to + c);
  if (c < width)
    store_first(d, hn::Mul(hn::Load(d, from + c), scale), to + c, static_cast<size_t>(width - c));
}

/// from[b]: the lanes from 128-bit block b on.
struct BlockMasks {
  BlockMasks() {
    const F32 d;
    for (int64_t block = 1; 4 * block < lanes(); ++block)
      from[block] = hn::Ge(hn::Iota(d, 0.0f), hn::Set(d, static_cast<float>(4 * block)));
  }
  hn::Mask<F32> from[HWY_MAX_BYTES / 16 + 1];
};

/// Transposes kCount words of 4 bytes, from word c on, of as many rows as there are lanes: vector w
/// holds word c + w of every row.
template <int kCount, typename T>
HWY_INLINE void transposed_words(const BlockMasks& masks, const T* const* rows, int64_t c,
                                 V32* columns) {
  const auto words = [c](const T* row) { return reinterpret_cast<const float*>(row) + c; };
  const F32 d;
  const hn::Repartition<uint64_t, F32> d64;
  V32 quarter[4][kCount / 4];
#pragma GCC unroll 4
  for (int m = 0; m < 4; ++m) {
#pragma GCC unroll 4
    for (int w = 0; w < kCount / 4; ++w) quarter[m][w] = hn::LoadDup128(d, words(rows[m]) + 4 * w);
    for (int64_t block = 1; 4 * block < lanes(); ++block) {
      const float* row = words(rows[4 * block + m]);
#pragma GCC unroll 4
      for (int w = 0; w < kCount / 4; ++w)
        quarter[m][w] =
            hn::IfThenElse(masks.from[block], hn::LoadDup128(d, row + 4 * w), quarter[m][w]);
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

/// The rows of a block of keys (or values), each the elements of one head, in place.
template <typename T>
struct KeyRows {
  const T* row[cpu::kKeyBlock];
};

/// How many T hold `width` elements.
template <typename T>
constexpr int64_t units(int64_t width) {
  return width / block_elements(dtype_of<T>);
}

/// The vector of a key (or value) from element c on.
template <typename T>
HWY_INLINE V32 load_key(const T* row, int64_t c) {
  return load(F32(), row + c);
}
HWY_INLINE V32 load_key(const BlockQ8_0* row, int64_t c) {
  const BlockQ8_0& block = row[c / BlockQ8_0::kElements];
  const auto quants = load_bytes(block.quants.data() + c % BlockQ8_0::kElements);
  return hn::Mul(hn::ConvertTo(F32(), quants), set_half(block.scale));
}

/// Keys (or values) [begin, begin + count) of a group, in place.
template <typename T>
HWY_INLINE KeyRows<T> find_keys(const cpu::AttentionGroup& group, const T* keys, int64_t width,
                                int64_t begin, int64_t count) {
  KeyRows<T> rows;
  for (int64_t j = 0; j < count; ++j)
    rows.row[j] = keys + group.key_index(begin + j) * units<T>(width);
  return rows;
}

/// The same as f32 rows, padded, in this thread's `slot`.
template <typename T>
HWY_INLINE Rows<const float> pack_keys(const KeyRows<T>& from, int64_t width, int64_t count,
                                       cpu::Slot slot) {
  const int64_t stride = padded(width);
  float* to = cpu::scratch(slot, cpu::kKeyBlock * stride);
  for (int64_t j = 0; j < count; ++j) {
    if constexpr (is_plain(dtype_of<T>))
      pack_row(from.row[j], width, 1.0f, to + j * stride);
    else
      widen_row(from.row[j], 0, width, to + j * stride);
  }
  return {to, stride};
}

/// to[c, j] = element c of row j, for j < count and c < width; reads width rounded up to 4. The
/// columns of `to` after `count`, up to a whole vector, repeat the last row.
HWY_INLINE void transpose(const KeyRows<float>& from, int64_t count, int64_t width,
                          Rows<float> to) {
  const F32 d;
  const BlockMasks masks;
  const float* rows[HWY_MAX_BYTES / 4];
  for (int64_t j = 0; j < count; j += lanes()) {
    for (int64_t lane = 0; lane < lanes(); ++lane)
      rows[lane] = from.row[HWY_MIN(j + lane, count - 1)];
    for (int64_t c = 0; c < width; c += 4) {
      V32 columns[4];
      transposed_words<4>(masks, rows, c, columns);
#pragma GCC unroll 4
      for (int m = 0; m < 4; ++m) hn::Store(columns[m], d, to.data + (c + m) * to.stride + j);
    }
  }
}

HWY_INLINE void transpose(Rows<const float> from, int64_t count, int64_t width, Rows<float> to) {
  KeyRows<float> rows;
  for (int64_t j = 0; j < count; ++j) rows.row[j] = from.data + j * from.stride;
  transpose(rows, count, width, to);
}

/// Transposes rows of any type; through `slot` unless they are f32 rows of a multiple of four.
template <typename T>
HWY_INLINE void pack_transposed(const KeyRows<T>& from, int64_t width, int64_t count,
                                cpu::Slot slot, Rows<float> to) {
  if constexpr (sizeof(T) == sizeof(float))
    if (width % 4 == 0) return transpose(from, count, width, to);
  transpose(pack_keys(from, width, count, slot), count, width, to);
}

/// Rows [begin, begin + count) of q (or of a tensor like it) as f32 rows, padded, in this thread's
/// `slot`.
template <typename T>
HWY_INLINE Rows<const float> pack_queries(const cpu::AttentionGroup& group, const T* queries,
                                          int64_t width, float factor, int64_t begin, int64_t count,
                                          cpu::Slot slot) {
  const int64_t stride = padded(width);
  float* to = cpu::scratch(slot, cpu::kRowBlock * stride);
  for (int64_t r = 0; r < count; ++r)
    pack_row(queries + group.row_index(begin + r) * width, width, factor, to + r * stride);
  return {to, stride};
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
