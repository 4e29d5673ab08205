#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "heed/kernels/quantize_search.h"

// Rounding to blocks of 256 elements with sub-scales. Each sub-block first gets the scale that
// suits it best (quantize_search.h). The largest of these decides the scale of the block. Then each
// sub-scale is the best of the integers near the one wanted, given what the block can store.

namespace heed::kernels {

/// Elements that share a sub-scale, padded to 32 with zeros that have no weight.
struct SubBlock {
  std::array<float, 32> x = {}, importance = {};

  template <typename Block>
  static SubBlock of(const float* x, const float* importance, int64_t begin) {
    constexpr auto kSize = static_cast<size_t>(Block::kTraits.sub_scale_elements);
    SubBlock result;
    std::copy_n(x + begin, kSize, result.x.begin());
    std::copy_n(importance + begin, kSize, result.importance.begin());
    return result;
  }
};

/// A backend's function that sets trials.errors for 32 elements x.
using TryAll = void (*)(const float* x, const float* importance, Levels levels, Trials& trials);

template <typename Block>
void try_scales(const SubBlock& part, TryAll try_all, Trials& trials) {
  try_all(part.x.data(), part.importance.data(), kLevels<Block>, trials);
}

/// The nearest integer to number / unit, at most `most` in magnitude; 0 if unit is 0.
inline int nearest(float number, float unit, int most) {
  if (unit == 0.0f) return 0;
  return std::clamp(static_cast<int>(std::nearbyint(number / unit)), -most, most);
}

/// The codes of the elements of a sub-block, which `by` scales.
template <typename Block>
void put_codes(const SubBlock& from, BlockScale by, uint8_t* codes) {
  constexpr Levels levels = kLevels<Block>;
  const float inverse = 1.0f / by.scale, factor = std::isfinite(inverse) ? inverse : 0.0f;
  for (size_t i = 0; i < static_cast<size_t>(Block::kTraits.sub_scale_elements); ++i) {
    const float level = std::clamp(std::nearbyint((from.x[i] - by.minimum) * factor), levels.lowest,
                                   levels.highest);
    codes[i] = static_cast<uint8_t>(static_cast<int>(level) - Block::kTraits.lowest);
  }
}

/// Rounds 256 elements to a block with 8 sub-scales and sub-minimums of 6 bits (q4_K, q5_K).
template <typename Block>
void round_with_minimums(const float* x, const float* importance, Block& block, TryAll try_all) {
  constexpr int kMost = 63;
  constexpr size_t kParts = 8, kSize = 32;
  std::array<SubBlock, kParts> parts;
  std::array<BlockScale, kParts> wanted;
  float scale = 0.0f, minimum = 0.0f;  // the largest
  for (size_t i = 0; i < kParts; ++i) {
    parts[i] = SubBlock::of<Block>(x, importance, static_cast<int64_t>(kSize * i));
    const auto [least, greatest] = std::ranges::minmax(parts[i].x);
    // Minimums are not above zero.
    wanted[i] =
        search_scale_and_minimum<Block>(std::min(least, 0.0f), greatest, [&](Trials& trials) {
          for (size_t k = 0; k < trials.count; ++k)
            trials.minimums[k] = std::min(trials.minimums[k], 0.0f);
          try_scales<Block>(parts[i], try_all, trials);
        });
    scale = std::max(scale, wanted[i].scale);
    minimum = std::max(minimum, -wanted[i].minimum);
  }
  block.scale = checked_scale(scale / kMost, dtype_of<Block>);
  block.minimum = checked_scale(minimum / kMost, dtype_of<Block>);
  const auto unit = static_cast<float>(block.scale), low = static_cast<float>(block.minimum);
  std::array<uint8_t, Block::kElements> codes;
  for (size_t i = 0; i < kParts; ++i) {
    const int sub = nearest(wanted[i].scale, unit, kMost);
    const int sub_minimum = nearest(-wanted[i].minimum, low, kMost);
    Trials trials;
    std::array<std::array<int, 2>, 16> tried;
    const auto add = [&](int a, int b) {
      tried[trials.count] = {std::clamp(a, 0, kMost), std::clamp(b, 0, kMost)};
      const auto& [s, m] = tried[trials.count];
      trials.add({unit * static_cast<float>(s), -low * static_cast<float>(m)});
    };
    add(sub, sub_minimum);
    for (int a = -1; a <= 1; ++a)
      for (int b = -2; b <= 2; ++b) add(sub + a, sub_minimum + b);
    try_scales<Block>(parts[i], try_all, trials);
    const auto [s, m] = tried[trials.best()];
    block.scales.set(i, s, m);
    put_codes<Block>(parts[i], {unit * static_cast<float>(s), -low * static_cast<float>(m)},
                     codes.data() + kSize * i);
  }
  block.set_codes(codes);
}

/// Rounds 256 elements to a block with 16 signed sub-scales of 8 bits (q6_K).
template <typename Block>
void round_with_signed_scales(const float* x, const float* importance, Block& block,
                              TryAll try_all) {
  constexpr int kMost = 127;
  constexpr size_t kParts = 16, kSize = 16;
  std::array<SubBlock, kParts> parts;
  std::array<float, kParts> wanted;
  float largest = 0.0f;
  for (size_t i = 0; i < kParts; ++i) {
    parts[i] = SubBlock::of<Block>(x, importance, static_cast<int64_t>(kSize * i));
    const float extreme =
        *std::ranges::max_element(parts[i].x, {}, [](float element) { return std::fabs(element); });
    wanted[i] = search_scale<Block>(extreme, [&](Trials& trials) {
                  try_scales<Block>(parts[i], try_all, trials);
                }).scale;
    largest = std::max(largest, std::fabs(wanted[i]));
  }
  block.scale = checked_scale(largest / kMost, dtype_of<Block>);
  const auto unit = static_cast<float>(block.scale);
  std::array<uint8_t, Block::kElements> codes;
  for (size_t i = 0; i < kParts; ++i) {
    const int sub = nearest(wanted[i], unit, kMost);
    Trials trials;
    std::array<int, 16> tried;
    const auto add = [&](int a) {
      tried[trials.count] = std::clamp(a, -kMost, kMost);
      trials.add({unit * static_cast<float>(tried[trials.count]), 0.0f});
    };
    add(sub);
    for (int a = -7; a <= 7; ++a) add(sub + a);
    try_scales<Block>(parts[i], try_all, trials);
    const int best = tried[trials.best()];
    block.scales[i] = static_cast<int8_t>(best);
    put_codes<Block>(parts[i], {unit * static_cast<float>(best), 0.0f}, codes.data() + kSize * i);
  }
  block.set_codes(codes);
}

/// Rounds 256 finite elements to a block of any type with sub-scales that heed writes. Throws Error
/// when a scale is too large.
template <typename Block>
void round_sub_blocks(const float* x, const float* importance, Block& block, TryAll try_all) {
  if constexpr (Block::kTraits.has_minimum)
    round_with_minimums(x, importance, block, try_all);
  else
    round_with_signed_scales(x, importance, block, try_all);
}

}  // namespace heed::kernels
