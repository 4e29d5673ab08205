// Integer products with blocks in plain loops, for machines that none of the others is for.
#include <cmath>
#include <cstring>

#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/tensor/float16.h"

namespace heed::kernels::cpu {
namespace {

/// The quants of a block: [32, 16].
struct Quants {
  uint8_t of[kProductBlock][kPanelCols];
};

Quants quants_of(const PanelLayout& layout, const std::byte* block) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(block);
  Quants quants;
  for (int64_t k = 0; k < kProductBlock; ++k)
    for (int64_t col = 0; col < kPanelCols; ++col) {
      const int64_t in_quad = 4 * col + k % 4, quad = k / 4;
      int value = layout.dtype == DType::q8_0
                      ? bytes[quad * kQuadBytes + in_quad]
                      : bytes[quad % 4 * kQuadBytes + in_quad] >> (quad / 4 * 4) & 15;
      if (layout.dtype == DType::q6_K)
        value |= (bytes[(4 + quad / 4) * kQuadBytes + in_quad] >> (quad % 4 * 2) & 3) << 4;
      quants.of[k][col] = static_cast<uint8_t>(value);
    }
  return quants;
}

void read_scales(const std::byte* from, float* to) {
  float16 scales[kPanelCols];
  std::memcpy(scales, from, sizeof(scales));
  for (int64_t col = 0; col < kPanelCols; ++col) to[col] = static_cast<float>(scales[col]);
}

/// 16 elements' part of the dots of a block.
void add_half(const Quants& quants, int64_t begin, const int8_t* a, int32_t start,
              const std::byte* scales, int32_t* dots) {
  for (int64_t col = 0; col < kPanelCols; ++col) {
    int32_t dot = start;
    for (int64_t k = begin; k < begin + 16; ++k) dot += quants.of[k][col] * a[k];
    dots[col] += scales ? dot * static_cast<int8_t>(scales[col]) : dot;
  }
}

/// A block's term of the sums of all rows.
void add_block(const BlockStrip& strip, const std::byte* panel, int64_t block,
               float (*sums)[kPanelCols]) {
  constexpr int64_t kHalves = 2 * kPanelCols;
  const PanelLayout& layout = strip.layout;
  const bool six = layout.dtype == DType::q6_K, has_minimum = layout.dtype == DType::q4_1;
  const std::byte* small = six ? panel + layout.small_scales + block * 2 * kPanelCols : nullptr;
  const Quants quants = quants_of(layout, panel + layout.quants + block * layout.block_quants);
  float scales[kPanelCols], minimums[kPanelCols];
  read_scales(panel + (six ? block / 8 : has_minimum ? 2 * block : block) * kHalves, scales);
  if (has_minimum) read_scales(panel + (2 * block + 1) * kHalves, minimums);
  for (int64_t row = 0; row < strip.rows; ++row) {
    const QuantizedRows& a = strip.a;
    const int64_t place = block * a.together + row;
    int32_t dots[kPanelCols] = {};
    for (int64_t half = 0; half < 2; ++half)
      add_half(quants, 16 * half, a.quants + place * kProductBlock, a.starts[2 * place + half],
               small ? small + half * kPanelCols : nullptr, dots);
    for (int64_t col = 0; col < kPanelCols; ++col) {
      float part = std::fma(scales[col], static_cast<float>(dots[col]), 0.0f);
      if (has_minimum) part = std::fma(minimums[col], a.sums[place], part);
      sums[row][col] = std::fma(a.scales[place], part, sums[row][col]);
    }
  }
}

constexpr int64_t kRows = 8;

void multiply(const BlockStrip& strip) {
  for (int64_t i = 0; i < strip.panels; ++i) {
    float sums[kRows][kPanelCols] = {};
    for (int64_t block = 0; block < strip.layout.blocks; ++block)
      add_block(strip, strip.panel + i * strip.layout.bytes, block, sums);
    for (int64_t row = 0; row < strip.rows; ++row)
      std::memcpy(strip.sums + row * strip.stride + i * kPanelCols, sums[row], sizeof(sums[row]));
  }
}

}  // namespace

const BlockKernel* plain_block_kernel() {
  static constexpr BlockKernel kernel{.name = "plain",
                                      .least_rows = 0,
                                      .rows = kRows,
                                      .together = kRows,
                                      .row_multiple = 1,
                                      .reads_starts = true,
                                      .multiply = multiply};
  return &kernel;
}

}  // namespace heed::kernels::cpu
