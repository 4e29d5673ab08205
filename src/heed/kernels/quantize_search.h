#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "heed/tensor/blocks.h"

namespace heed::kernels {

/// An element of a block of 4 bits is level * scale + minimum, its level one of 16 whole numbers.
struct BlockScale {
  float scale = 0.0f, minimum = 0.0f;

  /// As the block keeps them.
  BlockScale stored() const {
    return {static_cast<float>(float16(scale)), static_cast<float>(float16(minimum))};
  }
};

/// The lowest of the 16 levels: those of q4_0 are around zero, and its minimum is zero; those of
/// q4_1 count from its minimum.
template <typename Block>
inline constexpr float kLowestLevel = std::is_same_v<Block, BlockQ4_0> ? -8.0f : 0.0f;

/// Scales to try, as many as vectors of any machine hold whole, and what becomes of a block with
/// them: the sum over its elements of weight * (element - what is stored of it)^2.
struct Trials {
  static constexpr size_t kMost = 64, kMultiple = 16;
  alignas(64) std::array<float, kMost> scales, minimums, errors;
  size_t count = 0;

  void add(BlockScale scale) {
    scales[count] = scale.scale;
    minimums[count++] = scale.minimum;
  }
  /// Repeats the first until there is a whole number of vectors.
  void fill() {
    while (count % kMultiple != 0) add({scales[0], minimums[0]});
  }
  /// The place of the least error, the first of those that are equal. Errors that are not numbers
  /// are passed over, but for the first.
  size_t best() const {
    size_t best = 0;
    for (size_t i = 1; i < count; ++i)
      if (errors[i] < errors[best]) best = i;
    return best;
  }
};

/// The scale for a block of q4_0 with the least error of those around the plain one, which makes
/// the element of the largest magnitude, `extreme`, the level -8. Steps are tried from a wide one
/// that keeps the extremes to one that clips them, then closer around the best; never worse than
/// the plain one. try_all(trials) sets trials.errors.
template <typename TryAll>
BlockScale search_q4_0(float extreme, const TryAll& try_all) {
  // What the magnitude is divided by; from 8 on it is clipped.
  constexpr float kWidest = 5.6f, kStep = 0.4f;
  constexpr int kSteps = 16, kFine = 15;
  const float magnitude = std::fabs(extreme);
  const auto divisor = [](size_t place) {
    return kWidest + kStep * static_cast<float>(place % kSteps);
  };
  Trials coarse;
  for (const float side : {magnitude, -magnitude})
    for (size_t i = 0; i < kSteps; ++i) coarse.add({side / divisor(i), 0.0f});
  try_all(coarse);
  const size_t best = coarse.best();
  const float side = best < kSteps ? magnitude : -magnitude;
  Trials fine;
  fine.add(BlockScale{extreme / -8.0f, 0.0f}.stored());
  for (int i = -kFine / 2; i <= kFine / 2; ++i) {
    const float nearby = divisor(best) + kStep * static_cast<float>(i) / (kFine / 2 + 1);
    fine.add(BlockScale{side / nearby, 0.0f}.stored());
  }
  try_all(fine);
  return {fine.scales[fine.best()], 0.0f};
}

/// The same for a block of q4_1 whose elements lie in [least, greatest], which the plain one makes
/// its ends: both are moved, mostly inwards.
template <typename TryAll>
BlockScale search_q4_1(float least, float greatest, const TryAll& try_all) {
  constexpr float kStep = 0.03f;  // of the range
  constexpr int kOutwards = 1, kSteps = 8, kFine = 2;
  const float range = greatest - least;
  const auto moved = [&](float low, float high) {
    const float from = least + range * low, to = greatest - range * high;
    return BlockScale{(to - from) / 15.0f, from};
  };
  const auto step = [](size_t place) {
    return kStep * static_cast<float>(static_cast<int>(place) - kOutwards);
  };
  Trials coarse;
  for (size_t low = 0; low < kSteps; ++low)
    for (size_t high = 0; high < kSteps; ++high) coarse.add(moved(step(low), step(high)));
  try_all(coarse);
  const size_t best = coarse.best();
  Trials fine;
  fine.add(moved(0.0f, 0.0f).stored());
  for (int low = -kFine; low <= kFine; ++low)
    for (int high = -kFine; high <= kFine; ++high) {
      const float unit = kStep / (kFine + 1);
      fine.add(moved(step(best / kSteps) + unit * static_cast<float>(low),
                     step(best % kSteps) + unit * static_cast<float>(high))
                   .stored());
    }
  fine.fill();
  try_all(fine);
  return {fine.scales[fine.best()], fine.minimums[fine.best()]};
}

/// Rounds x + compensation element by element with GPTQ (Frantar et al. 2022). errors[j] = x[j]
/// minus what is stored; feedback[32 j + i] times that is added to each element i > j.
template <typename Block>
void round_columns(const float* x, const float* compensation, const float* feedback, BlockScale by,
                   Block& block, float* errors) {
  constexpr float kLowest = kLowestLevel<Block>;
  std::array<float, 32> targets;
  for (size_t i = 0; i < 32; ++i) targets[i] = x[i] + compensation[i];
  const float inverse = 1.0f / by.scale, factor = std::isfinite(inverse) ? inverse : 0.0f;
  block.quants = {};
  for (size_t j = 0; j < 32; ++j) {
    const float level =
        std::clamp(std::nearbyint((targets[j] - by.minimum) * factor), kLowest, kLowest + 15.0f);
    const auto quant = static_cast<unsigned>(level - kLowest);
    block.quants[j % 16] = static_cast<uint8_t>(block.quants[j % 16] | quant << (j / 16 * 4));
    errors[j] = x[j] - (level * by.scale + by.minimum);
    for (size_t i = j + 1; i < 32; ++i) targets[i] += errors[j] * feedback[32 * j + i];
  }
}

}  // namespace heed::kernels
