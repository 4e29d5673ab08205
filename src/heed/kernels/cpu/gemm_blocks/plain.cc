// Integer products with blocks in plain loops, for machines that have no other kernel.
#include <cmath>
#include <cstring>

#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/tensor/float16.h"

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kRows = 8;

/// The unsigned quants of a block: [32, 16].
struct Quants {
  uint8_t of[kProductBlock][kPanelCols];
};

Quants quants_of(const PanelLayout& layout, const std::byte* block) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(block);
  const int bits = panel_bits(traits_of(layout.dtype));
  Quants quants;
  for (int64_t k = 0; k < kProductBlock; ++k)
    for (int64_t col = 0; col < kPanelCols; ++col) {
      const int64_t in_quad = 4 * col + k % 4, quad = k / 4;
      int value = bits == 8 ? bytes[quad * kQuadBytes + in_quad]
                            : bytes[quad % 4 * kQuadBytes + in_quad] >> (quad / 4 * 4) & 15;
      if (bits == 6)
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

/// Adds the part of 16 elements to the dot products of a block.
void add_half(const Quants& quants, int64_t begin, const int8_t* a, int32_t initial,
              const std::byte* sub_scales, int32_t* dots) {
  for (int64_t col = 0; col < kPanelCols; ++col) {
    int32_t dot = initial;
    for (int64_t k = begin; k < begin + 16; ++k) dot += quants.of[k][col] * a[k];
    dots[col] += sub_scales ? dot * static_cast<int8_t>(sub_scales[col]) : dot;
  }
}

/// Adds a block's part to the sums of all rows.
void add_block(const BlockStrip& strip, const std::byte* panel, int64_t block,
               float (*sums)[kPanelCols]) {
  const PanelLayout& layout = strip.layout;
  const BlockTraits& traits = traits_of(layout.dtype);
  const std::byte* sub_scales =
      traits.has_sub_scales() ? panel + layout.sub_scales + block * 2 * kPanelCols : nullptr;
  const Quants quants = quants_of(layout, panel + layout.quants + block * layout.block_quants);
  const int64_t stored = block * kProductBlock / traits.elements;
  float scales[kPanelCols], minimums[kPanelCols];
  read_scales(panel + (traits.has_minimum ? 2 * stored : stored) * kScaleBytes, scales);
  if (traits.has_minimum) read_scales(panel + (2 * stored + 1) * kScaleBytes, minimums);
  for (int64_t row = 0; row < strip.rows; ++row) {
    const QuantizedRows& a = strip.a;
    const int64_t index = block * a.interleave + row;
    int32_t dots[kPanelCols] = {};
    for (int64_t half = 0; half < 2; ++half)
      add_half(quants, 16 * half, a.quants + index * kProductBlock, a.initial[2 * index + half],
               sub_scales ? sub_scales + half * kPanelCols : nullptr, dots);
    for (int64_t col = 0; col < kPanelCols; ++col) {
      float part = std::fma(scales[col], static_cast<float>(dots[col]), 0.0f);
      if (traits.has_minimum) part = std::fma(minimums[col], a.sums[index], part);
      sums[row][col] = std::fma(a.scales[index], part, sums[row][col]);
    }
  }
}

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

constinit const BlockKernel plain_block_kernel{.name = "plain",
                                               .needs = Instructions::none,
                                               .min_rows = 0,
                                               .max_rows = kRows,
                                               .interleave = kRows,
                                               .row_multiple = 1,
                                               .reads_initial = true,
                                               .multiply = multiply};

}  // namespace heed::kernels::cpu
