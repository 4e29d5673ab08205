#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "heed/kernels/quantize.h"
#include "heed/tensor/dtype.h"

namespace heed::kernels {

/// Whether heed rounds to a block type by searching for its scales. With 8 bits the plain scale is
/// good enough.
constexpr bool searches_scales(const BlockTraits& type) {
  return type.elements == 32 && type.bits < 8 && !type.has_codebook();
}

/// The quants of a block type as floats.
struct Levels {
  float lowest, highest;
};
template <typename Block>
inline constexpr Levels kLevels{
    static_cast<float>(Block::kTraits.lowest),
    static_cast<float>(Block::kTraits.lowest + (1 << Block::kTraits.bits) - 1)};

/// An element of a block is level * scale + minimum.
struct BlockScale {
  float scale = 0.0f, minimum = 0.0f;

  /// Rounded to f16, as blocks store them.
  BlockScale stored() const {
    return {static_cast<float>(float16(scale)), static_cast<float>(float16(minimum))};
  }
};

/// A scale as blocks store it. Throws Error when f16 cannot hold it.
inline float16 checked_scale(float scale, DType dtype) {
  const float16 half(scale);
  require(std::isfinite(static_cast<float>(half)),
          "a weight that is not finite, or too large, cannot be stored as {}", name_of(dtype));
  return half;
}

/// Candidate scales for a block, and the error of each: the sum over the block of
/// weight * (element - stored element)^2. Their number is a multiple of every machine's vector
/// length.
struct Trials {
  static constexpr size_t kMax = 64, kMultiple = 16;
  alignas(64) std::array<float, kMax> scales, minimums, errors;
  size_t count = 0;

  void add(BlockScale scale) {
    scales[count] = scale.scale;
    minimums[count++] = scale.minimum;
  }
  /// Repeats the first until the number is a multiple of kMultiple.
  void fill() {
    while (count % kMultiple != 0) add({scales[0], minimums[0]});
  }
  /// The index of the least error; ties go to the first. NaN errors are skipped, except the first.
  size_t best() const {
    size_t best = 0;
    for (size_t i = 1; i < count; ++i)
      if (errors[i] < errors[best]) best = i;
    return best;
  }
};

/// The scale of least error for a block without a minimum. The plain scale maps the element of the
/// largest magnitude, `extreme`, to the lowest level. Candidates range from scales that leave the
/// extremes well inside the levels to scales that clip them, of either sign, then lie closer around
/// the best. The result is never worse than the plain scale. try_all(trials) sets trials.errors.
template <typename Block, typename TryAll>
BlockScale search_scale(float extreme, const TryAll& try_all) {
  // Divisors of the magnitude; beyond kLevels.highest it is clipped.
  constexpr float kLowest = kLevels<Block>.lowest, kWidest = -0.7f * kLowest,
                  kStep = -0.05f * kLowest;
  constexpr int kSteps = 16, kFine = 15;
  const float magnitude = std::fabs(extreme);
  const auto divisor = [](size_t index) {
    return kWidest + kStep * static_cast<float>(index % kSteps);
  };
  Trials coarse;
  for (const float side : {magnitude, -magnitude})
    for (size_t i = 0; i < kSteps; ++i) coarse.add({side / divisor(i), 0.0f});
  try_all(coarse);
  const size_t best = coarse.best();
  const float side = best < kSteps ? magnitude : -magnitude;
  Trials fine;
  fine.add(BlockScale{extreme / kLowest, 0.0f}.stored());
  for (int i = -kFine / 2; i <= kFine / 2; ++i) {
    const float nearby = divisor(best) + kStep * static_cast<float>(i) / (kFine / 2 + 1);
    fine.add(BlockScale{side / nearby, 0.0f}.stored());
  }
  try_all(fine);
  return {fine.scales[fine.best()], 0.0f};
}

/// The same for a block with a minimum whose elements lie in [least, greatest]. The plain scale
/// maps these to the lowest and the highest level; candidates move both ends, mostly inwards.
template <typename Block, typename TryAll>
BlockScale search_scale_and_minimum(float least, float greatest, const TryAll& try_all) {
  constexpr float kStep = 0.03f;  // of the range
  constexpr int kOutwards = 1, kSteps = 8, kFine = 2;
  const float range = greatest - least;
  const auto moved = [&](float low, float high) {
    constexpr float kSpan = kLevels<Block>.highest - kLevels<Block>.lowest;
    const float from = least + range * low, to = greatest - range * high;
    return BlockScale{(to - from) / kSpan, from};
  };
  const auto step = [](size_t index) {
    return kStep * static_cast<float>(static_cast<int>(index) - kOutwards);
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

/// Writes row `row` of quantize_gptq() (Frantar et al. 2022). The scale is that of x +
/// compensation: set_scale(x, importance, block) stores the one of least error in the block and
/// returns it. Then element after element is rounded, and the error of each, x minus what is
/// stored, times its feedback is added to the elements after it.
template <typename Block>
void quantize_gptq_row(const GptqBlock& columns, int64_t row,
                       BlockScale (*set_scale)(const float*, const float*, Block&), Tensor& y,
                       Tensor& errors) {
  constexpr Levels levels = kLevels<Block>;
  constexpr auto kColumns = static_cast<size_t>(kGptqColumns);
  const int64_t at = row * columns.x.cols() + columns.begin;
  const float* x = columns.x.data<float>() + at;
  const float* compensation = columns.compensation.data<float>() + row * kGptqColumns;
  const float* feedback = columns.feedback.data<float>();
  std::array<float, kColumns> targets;
  for (size_t i = 0; i < kColumns; ++i) targets[i] = x[i] + compensation[i];
  Block& block = y.data<Block>()[at / kGptqColumns];
  const BlockScale by =
      set_scale(targets.data(), columns.importance.data<float>() + columns.begin, block);
  const float inverse = 1.0f / by.scale, factor = std::isfinite(inverse) ? inverse : 0.0f;
  std::array<int8_t, kColumns> quants;
  for (size_t j = 0; j < kColumns; ++j) {
    const float level = std::clamp(std::nearbyint((targets[j] - by.minimum) * factor),
                                   levels.lowest, levels.highest);
    quants[j] = static_cast<int8_t>(level);
    const float error = x[j] - (level * by.scale + by.minimum);
    errors.data<float>()[static_cast<int64_t>(j) * errors.cols() + row] = error;
    for (size_t i = j + 1; i < kColumns; ++i) targets[i] += error * feedback[kColumns * j + i];
  }
  block.set_quants(quants);
}

}  // namespace heed::kernels
