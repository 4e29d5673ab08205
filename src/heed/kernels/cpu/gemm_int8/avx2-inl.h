#pragma once

// Integer products in vectors of AVX2, 8 columns in each: what is the same with VNNI and without.
// Who includes it has asked the compiler for its instructions before, and defines
//   add_products(__m256i sums, __m256i quad, __m256i panel)
// which adds the products of 4 neighbouring k, those of a row in each lane of `quad`. What both
// include comes before that, too, lest others' inline functions be compiled for AVX2.
namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 3;
constexpr int64_t kLanes = 8;
constexpr int kVectors = kInt8Cols / kLanes;
static_assert(kRows <= kMostInt8Rows);

__m256i load(const void* from) { return _mm256_load_si256(static_cast<const __m256i*>(from)); }

__m256i broadcast_quad(const int8_t* from) {
  int32_t quad;
  std::memcpy(&quad, from, sizeof(quad));
  return _mm256_set1_epi32(quad);
}

template <bool biased, int Rows>
void multiply_rows(const Int8Strip& strip) {
  const int8_t *a = strip.a, *panel = strip.panel.quants();
  __m256i sums[Rows][kVectors];
  for (int r = 0; r < Rows; ++r)
    for (int i = 0; i < kVectors; ++i)
      sums[r][i] = biased ? load(strip.panel.starts() + i * kLanes) : _mm256_setzero_si256();
  for (int64_t k = 0; k < strip.panel.depth; k += 4, panel += kInt8QuadBytes)
    for (int r = 0; r < Rows; ++r) {
      const __m256i quad = broadcast_quad(a + r * strip.row_bytes + k);
      for (int i = 0; i < kVectors; ++i)
        sums[r][i] = add_products(sums[r][i], quad, load(panel + 4 * kLanes * i));
    }
  for (int r = 0; r < Rows; ++r)
    for (int i = 0; i < kVectors; ++i)
      _mm256_store_si256(reinterpret_cast<__m256i*>(strip.dots + r * kInt8Cols + i * kLanes),
                         sums[r][i]);
}

template <bool biased>
void multiply_strip(const Int8Strip& strip) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    ((strip.rows == i + 1 ? multiply_rows<biased, i + 1>(strip) : void()), ...);
  }
  (std::make_integer_sequence<int, kRows>());
}

}  // namespace
}  // namespace heed::kernels::cpu
