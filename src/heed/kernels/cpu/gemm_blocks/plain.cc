// Integer products with blocks in plain loops, for machines that have no other kernel.
#include <algorithm>
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
  const BlockTraits& traits = traits_of(layout.dtype);
  const auto [low, high] = code_parts(traits);
  const auto* bytes = reinterpret_cast<const uint8_t*>(block);
  Quants quants;
  for (int64_t k = 0; k < kProductBlock; ++k)
    for (int64_t col = 0; col < kPanelCols; ++col) {
      const int64_t quad = k / 4;
      const auto part = [&](int first, int bits) {
        const int64_t at = (first + quad % bits) * kQuadBytes + 4 * col + k % 4;
        return bytes[at] >> (quad / bits * bits) & ((1 << bits) - 1);
      };
      const int code = part(0, low) | (high ? part(low, high) << low : 0);
      quants.of[k][col] = static_cast<uint8_t>(
          traits.has_codebook() ? (*traits.codebook)[static_cast<size_t>(code)] - traits.lowest
                                : code);
    }
  return quants;
}

template <typename Number>
void read_scales(const std::byte* from, float* to) {
  Number scales[kPanelCols];
  std::memcpy(scales, from, sizeof(scales));
  for (int64_t col = 0; col < kPanelCols; ++col) to[col] = static_cast<float>(scales[col]);
}

/// The scales and minimums of a block of 32 elements.
struct Scales {
  float scales[kPanelCols];
  float minimums[2][kPanelCols];  // of both halves, or of all and unused
  int sub_scales[2][kPanelCols];  // of both halves
};

Scales scales_of(const PanelLayout& layout, const std::byte* panel, int64_t block) {
  const BlockTraits& traits = traits_of(layout.dtype);
  const int64_t stored = block * kProductBlock / traits.elements, parts = sub_scale_parts(traits);
  const std::byte* from = panel + (traits.has_minimum ? 2 * stored : stored) * kScaleBytes;
  const auto* sub =
      reinterpret_cast<const int8_t*>(panel) + layout.sub_scales + block * layout.block_sub_scales;
  Scales scales = {};
  if (layout.dtype == DType::mxfp4)
    read_scales<bfloat16>(from, scales.scales);
  else
    read_scales<float16>(from, scales.scales);
  for (int64_t half = 0; half < 2; ++half) {
    if (traits.has_minimum) read_scales<float16>(from + kScaleBytes, scales.minimums[half]);
    for (int64_t col = 0; col < kPanelCols; ++col) {
      const int64_t at = half % std::max<int64_t>(1, parts) * kPanelCols + col;
      scales.sub_scales[half][col] = parts ? sub[at] : 1;
      if (parts && traits.has_minimum)
        scales.minimums[half][col] *= static_cast<float>(sub[parts * kPanelCols + at]);
    }
  }
  return scales;
}

/// Adds the part of 16 elements to the dot products of a block.
void add_half(const Quants& quants, int64_t begin, const int8_t* a, int32_t initial,
              const int* sub_scales, int32_t* dots) {
  for (int64_t col = 0; col < kPanelCols; ++col) {
    int32_t dot = initial;
    for (int64_t k = begin; k < begin + 16; ++k) dot += quants.of[k][col] * a[k];
    dots[col] += dot * sub_scales[col];
  }
}

/// Adds a block's part to the sums of all rows.
void add_block(const BlockStrip& strip, const std::byte* panel, int64_t block,
               float (*sums)[kPanelCols]) {
  const PanelLayout& layout = strip.layout;
  const BlockTraits& traits = traits_of(layout.dtype);
  const Quants quants = quants_of(layout, panel + layout.quants + block * layout.block_quants);
  const Scales scales = scales_of(layout, panel, block);
  for (int64_t row = 0; row < strip.rows; ++row) {
    const QuantizedRows& a = strip.a;
    const int64_t index = block * a.interleave + row;
    int32_t dots[kPanelCols] = {};
    for (int64_t half = 0; half < 2; ++half)
      add_half(quants, 16 * half, a.quants + index * kProductBlock, a.initial[2 * index + half],
               scales.sub_scales[half], dots);
    for (int64_t col = 0; col < kPanelCols; ++col) {
      float part = std::fma(scales.scales[col], static_cast<float>(dots[col]), 0.0f);
      for (int64_t half = 0; traits.has_minimum && half < (has_halves(traits) ? 2 : 1); ++half)
        part = std::fma(scales.minimums[half][col], a.sums[2 * index + half], part);
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
                                               .max_rows = kRows,
                                               .interleave = kRows,
                                               .multiply = multiply};

}  // namespace heed::kernels::cpu
