// Integer products with blocks for AVX-512 with VNNI (Intel Ice Lake, AMD Zen 4): an instruction
// multiplies 4 neighbouring k of 16 columns with those of a row.
#include "heed/kernels/cpu/matmul_blocks_kernels.h"
#include "heed/kernels/cpu/matmul_x86.h"

#if HEED_MATMUL_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 8;
constexpr int64_t kHalves = 2 * kPanelCols;  // bytes of f16 [16]
constexpr int64_t kGroupBlocks = kActivationGroup / kWeightBlock;

__m512i load(const std::byte* from) { return _mm512_load_si512(from); }

__m512 load_scales(const std::byte* from) {
  return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
}

__m512i load_small(const std::byte* from) {
  return _mm512_cvtepi8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
}

/// The quants of a block and its scales; those of q6_K's 16 elements, or minimums, if it has some.
template <DType type>
struct Block {
  __m512i quads[8];
  __m512 scales, minimums;
  __m512i small[2];

  Block(const PanelLayout& layout, const std::byte* panel, int64_t at) {
    const std::byte* quants = panel + layout.quants + at * layout.block_quants;
    if constexpr (type == DType::q8_0)
      for (int i = 0; i < 8; ++i) quads[i] = load(quants + i * kQuadBytes);
    else
      read_nibbles(quants);
    if constexpr (type == DType::q6_K) {
      add_upper_bits(quants + 4 * kQuadBytes);
      scales = load_scales(panel + at / 8 * kHalves);
      const std::byte* from = panel + layout.small_scales + at * 2 * kPanelCols;
      small[0] = load_small(from);
      small[1] = load_small(from + kPanelCols);
    } else if constexpr (type == DType::q4_1) {
      scales = load_scales(panel + 2 * at * kHalves);
      minimums = load_scales(panel + (2 * at + 1) * kHalves);
    } else {
      scales = load_scales(panel + at * kHalves);
    }
  }

 private:
  void read_nibbles(const std::byte* quants) {
    const __m512i lower = _mm512_set1_epi8(15);
    for (int i = 0; i < 4; ++i) {
      const __m512i both = load(quants + i * kQuadBytes);
      quads[i] = _mm512_and_si512(both, lower);
      quads[i + 4] = _mm512_and_si512(_mm512_srli_epi16(both, 4), lower);
    }
  }

  void add_upper_bits(const std::byte* from) {
    for (int half = 0; half < 2; ++half) {
      const __m512i bits = load(from + half * kQuadBytes);
      __m512i* to = quads + 4 * half;
      to[0] = with_two(to[0], _mm512_slli_epi16(bits, 4));
      to[1] = with_two(to[1], _mm512_slli_epi16(bits, 2));
      to[2] = with_two(to[2], bits);
      to[3] = with_two(to[3], _mm512_srli_epi16(bits, 2));
    }
  }

  /// four | (bits & 0x30)
  static __m512i with_two(__m512i four, __m512i bits) {
    constexpr int kOrOfAnd = 0xf8;
    return _mm512_ternarylogic_epi32(four, bits, _mm512_set1_epi8(0x30), kOrOfAnd);
  }
};

__m512i broadcast_quad(const int8_t* from) {
  int32_t quad;
  std::memcpy(&quad, from, sizeof(quad));
  return _mm512_set1_epi32(quad);
}

/// The dots of a block and a row.
template <DType type>
__m512 dots(const Block<type>& block, const int8_t* a, const int32_t* starts) {
  __m512i first = _mm512_set1_epi32(starts[0]), second = _mm512_set1_epi32(starts[1]);
  for (int i = 0; i < 4; ++i) {
    first = _mm512_dpbusd_epi32(first, block.quads[i], broadcast_quad(a + 4 * i));
    second = _mm512_dpbusd_epi32(second, block.quads[i + 4], broadcast_quad(a + 16 + 4 * i));
  }
  if constexpr (type == DType::q6_K) {
    first = _mm512_mullo_epi32(first, block.small[0]);
    second = _mm512_mullo_epi32(second, block.small[1]);
  }
  return _mm512_cvtepi32_ps(_mm512_add_epi32(first, second));
}

template <DType type, int Rows>
void multiply_panel(const BlockStrip& strip, const std::byte* panel, float* to) {
  const QuantizedRows& a = strip.a;
  __m512 sums[Rows];
  for (int r = 0; r < Rows; ++r) sums[r] = _mm512_setzero_ps();
  for (int64_t group = 0; group < a.groups; ++group) {
    __m512 parts[Rows];
    for (int r = 0; r < Rows; ++r) parts[r] = _mm512_setzero_ps();
    const int64_t end = std::min(a.blocks, (group + 1) * kGroupBlocks);
    for (int64_t at = group * kGroupBlocks; at < end; ++at) {
      const Block<type> block(strip.layout, panel, at);
      for (int r = 0; r < Rows; ++r) {
        const __m512 dot = dots(block, a.quants + r * a.stride + at * kWeightBlock,
                                a.starts + (r * a.blocks + at) * 2);
        parts[r] = _mm512_fmadd_ps(block.scales, dot, parts[r]);
        if constexpr (type == DType::q4_1)
          parts[r] =
              _mm512_fmadd_ps(block.minimums, _mm512_set1_ps(a.sums[r * a.blocks + at]), parts[r]);
      }
    }
    for (int r = 0; r < Rows; ++r)
      sums[r] = _mm512_fmadd_ps(_mm512_set1_ps(a.scales[r * a.groups + group]), parts[r], sums[r]);
  }
  for (int r = 0; r < Rows; ++r) _mm512_storeu_ps(to + r * strip.stride, sums[r]);
}

template <DType type, int Rows>
void multiply_rows(const BlockStrip& strip) {
  for (int64_t i = 0; i < strip.panels; ++i)
    multiply_panel<type, Rows>(strip, strip.panel + i * strip.layout.bytes,
                               strip.sums + i * kPanelCols);
}

using MultiplyRows = void (*)(const BlockStrip&);

template <DType type, int... I>
constexpr std::array<MultiplyRows, kRows> table_of_rows(std::integer_sequence<int, I...>) {
  return {&multiply_rows<type, I + 1>...};
}

void multiply(const BlockStrip& strip) {
  visit_stored(strip.layout.dtype, [&](auto stored) {
    constexpr DType type = dtype_of<decltype(stored)>;
    if constexpr (!is_plain(type)) {
      static constexpr auto kTable = table_of_rows<type>(std::make_integer_sequence<int, kRows>());
      kTable[static_cast<size_t>(strip.rows - 1)](strip);
    }
  });
}

}  // namespace
}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {

const BlockKernel* avx512_vnni_block_kernel() {
  static constexpr BlockKernel kernel{.name = "avx512_vnni", .rows = kRows, .multiply = multiply};
  static const bool available =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vnni");
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const BlockKernel* avx512_vnni_block_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
