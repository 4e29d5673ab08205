// What the tiles of attention are made of: products of small packed matrices, transposition,
// packing. Included once per instruction set.
#include <cstdint>
#include <cstring>

#include "heed/kernels/cpu/attention/work.h"
#include "heed/kernels/cpu/simd/math-inl.h"
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

/// The left factor of a product, read number by number: element (i, k) lies at
/// data[i * row_step + k * col_step], so a transposed matrix is a matter of steps.
struct Left {
  const float* data;
  int64_t row_step, col_step;
};

/// A matrix of whole vectors: rows `step` floats apart.
template <typename T>
struct Rows {
  T* data;
  int64_t step;
};

template <int kRows, int kVectors>
HWY_NOINLINE void product_block(Left a, Rows<const float> b, int64_t count, Rows<float> c,
                                bool accumulate) {
  const F32 d;
  V32 sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      sum[i][v] = accumulate ? hn::Load(d, c.data + i * c.step + v * lanes()) : hn::Zero(d);
  for (int64_t k = 0; k < count; ++k) {
    V32 right[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) right[v] = hn::Load(d, b.data + k * b.step + v * lanes());
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const auto left = hn::Set(d, a.data[i * a.row_step + k * a.col_step]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(left, right[v], sum[i][v]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) hn::Store(sum[i][v], d, c.data + i * c.step + v * lanes());
}

template <int kVectors>
HWY_INLINE void product_columns(int64_t rows, Left a, Rows<const float> b, int64_t count,
                                Rows<float> c, bool accumulate) {
  switch (rows) {
    case 1:
      return product_block<1, kVectors>(a, b, count, c, accumulate);
    case 2:
      return product_block<2, kVectors>(a, b, count, c, accumulate);
    case 3:
      return product_block<3, kVectors>(a, b, count, c, accumulate);
    case 4:
      return product_block<4, kVectors>(a, b, count, c, accumulate);
    case 5:
      return product_block<5, kVectors>(a, b, count, c, accumulate);
    default:
      return product_block<6, kVectors>(a, b, count, c, accumulate);
  }
}

/// c = a b, or c += a b, for at most kPanelRows rows of c and `vectors` vectors of columns; `count`
/// is the inner size. Each element is one sum in the order of the inner index, whatever the sizes.
HWY_INLINE void product(int64_t rows, int64_t vectors, int64_t count, Left a, Rows<const float> b,
                        Rows<float> c, bool accumulate) {
  // Six rows times four vectors of sums fill 32 registers, times two vectors 16.
  constexpr int64_t kWidest = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 4 : 2;
  while (vectors > 0) {
    const int64_t width =
        vectors > kWidest && vectors < 2 * kWidest ? (vectors + 1) / 2 : HWY_MIN(vectors, kWidest);
    if (kWidest == 4 && width == 4)
      product_columns<kWidest>(rows, a, b, count, c, accumulate);
    else if (kWidest == 4 && width == 3)
      product_columns<(kWidest == 4 ? 3 : 1)>(rows, a, b, count, c, accumulate);
    else if (width == 2)
      product_columns<2>(rows, a, b, count, c, accumulate);
    else
      product_columns<1>(rows, a, b, count, c, accumulate);
    b.data += width * lanes();
    c.data += width * lanes();
    vectors -= width;
  }
}

/// to[0, padded(width)) = factor * from[0, width) as f32, zeros behind.
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

/// Numbers c, ..., c + 3 of as many rows as there are lanes, transposed: vector m holds number
/// c + m of every row.
struct FourColumns {
  V32 column[4];
};

HWY_INLINE FourColumns four_columns(F32 d, const float* const* rows, int64_t c) {
  const hn::Repartition<uint64_t, F32> d64;
  V32 quarter[4];
#pragma GCC unroll 4
  for (int m = 0; m < 4; ++m) {
    quarter[m] = hn::LoadDup128(d, rows[m] + c);
    for (int64_t block = 4; block < lanes(); block += 4) {
      const auto behind = hn::Not(hn::FirstN(d, static_cast<size_t>(block)));
      quarter[m] = hn::IfThenElse(behind, hn::LoadDup128(d, rows[block + m] + c), quarter[m]);
    }
  }
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, quarter[0], quarter[1]));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, quarter[0], quarter[1]));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, quarter[2], quarter[3]));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, quarter[2], quarter[3]));
  return {{hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)),
           hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)),
           hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)),
           hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23))}};
}

/// Where the rows of a block of keys (or values) lie: each a head's numbers, or their blocks.
template <typename T>
struct KeyRows {
  const T* row[cpu::kKeyBlock];
};

/// How many T hold `width` numbers.
template <typename T>
constexpr int64_t units(int64_t width) {
  return width / block_elements(dtype_of<T>);
}

/// The vector of a key (or value) that begins with number c.
template <typename T>
HWY_INLINE V32 load_key(const T* row, int64_t c) {
  return load(F32(), row + c);
}
HWY_INLINE V32 load_key(const BlockQ8_0* row, int64_t c) {
  const BlockQ8_0& block = row[c / BlockQ8_0::kElements];
  const auto quants = load_bytes(block.quants.data() + c % BlockQ8_0::kElements);
  return hn::Mul(hn::ConvertTo(F32(), quants), set_half(block.scale));
}

/// Keys (or values) [begin, begin + count) of a group, where they lie.
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
  const int64_t step = padded(width);
  float* to = cpu::scratch(slot, cpu::kKeyBlock * step);
  for (int64_t j = 0; j < count; ++j) {
    if constexpr (is_plain(dtype_of<T>))
      pack_row(from.row[j], width, 1.0f, to + j * step);
    else
      widen_row(from.row[j], 0, width, to + j * step);
  }
  return {to, step};
}

/// to[c, j] = number c of row j, for j < count and c < width; reads width rounded up to 4. The
/// columns of `to` behind `count`, up to the whole vector, repeat the last row.
HWY_INLINE void transpose(const KeyRows<float>& from, int64_t count, int64_t width,
                          Rows<float> to) {
  const F32 d;
  const float* rows[HWY_MAX_BYTES / 4];
  for (int64_t j = 0; j < count; j += lanes()) {
    for (int64_t lane = 0; lane < lanes(); ++lane)
      rows[lane] = from.row[HWY_MIN(j + lane, count - 1)];
    for (int64_t c = 0; c < width; c += 4) {
      const FourColumns four = four_columns(d, rows, c);
#pragma GCC unroll 4
      for (int m = 0; m < 4; ++m) hn::Store(four.column[m], d, to.data + (c + m) * to.step + j);
    }
  }
}

HWY_INLINE void transpose(Rows<const float> from, int64_t count, int64_t width, Rows<float> to) {
  KeyRows<float> rows;
  for (int64_t j = 0; j < count; ++j) rows.row[j] = from.data + j * from.step;
  transpose(rows, count, width, to);
}

/// Transposes rows of any kind, through `slot` where they are not f32 rows that can be read four
/// numbers at a time.
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
  const int64_t step = padded(width);
  float* to = cpu::scratch(slot, cpu::kRowBlock * step);
  for (int64_t r = 0; r < count; ++r)
    pack_row(queries + group.row_index(begin + r) * width, width, factor, to + r * step);
  return {to, step};
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
