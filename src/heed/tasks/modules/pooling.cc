#include "heed/tasks/modules/pooling.h"

#include <algorithm>
#include <cmath>

namespace heed::tasks {
namespace {

/// The sum of weight(row) * state over the rows, divided by `divisor`.
template <typename Weight>
std::vector<float> weighted_sum(const PooledStates& states, const Weight& weight, double divisor) {
  std::vector<double> sums(static_cast<size_t>(states.width));
  const float* row = states.values;
  for (int64_t i = 0; i < states.rows; ++i, row += states.width)
    for (size_t column = 0; column < sums.size(); ++column)
      sums[column] += weight(i) * static_cast<double>(row[column]);
  std::vector<float> result(sums.size());
  for (size_t column = 0; column < sums.size(); ++column)
    result[column] = static_cast<float>(sums[column] / divisor);
  return result;
}

std::vector<float> largest(const PooledStates& states) {
  std::vector<float> result(states.values, states.values + states.width);
  const float* row = states.values + states.width;
  for (int64_t i = 1; i < states.rows; ++i, row += states.width)
    for (size_t column = 0; column < result.size(); ++column)
      result[column] = std::max(result[column], row[column]);
  return result;
}

/// Muennighoff (2022), SGPT: a token at position i, counted from 1 in its text, weighs i.
std::vector<float> position_weighted_mean(const PooledStates& states) {
  const auto first = static_cast<double>(states.first_position + 1);
  const auto rows = static_cast<double>(states.rows);
  return weighted_sum(
      states, [&](int64_t i) { return first + static_cast<double>(i); },
      rows * first + rows * (rows - 1) / 2);
}

std::vector<float> pooled_by(Pooling pooling, const PooledStates& states) {
  const auto one = [](int64_t) { return 1.0; };
  const auto rows = static_cast<double>(states.rows);
  const float* const last = states.values + (states.rows - 1) * states.width;
  switch (pooling) {
    case Pooling::mean:
      return weighted_sum(states, one, rows);
    case Pooling::mean_sqrt_len_tokens:
      return weighted_sum(states, one, std::sqrt(rows));
    case Pooling::weightedmean:
      return position_weighted_mean(states);
    case Pooling::max:
      return largest(states);
    case Pooling::last:
      return {last, last + states.width};
    case Pooling::cls:
    case Pooling::pooler:
      break;
  }
  return {states.values, states.values + states.width};
}

}  // namespace

std::vector<float> pooled(std::span<const Pooling> poolings, const PooledStates& states) {
  std::vector<float> all;
  for (const Pooling pooling : poolings) {
    const std::vector<float> one = pooled_by(pooling, states);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

}  // namespace heed::tasks
