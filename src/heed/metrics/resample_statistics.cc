#include "heed/metrics/resample_statistics.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace heed::metrics {
namespace {

/// The sum of numpy's add.reduce over contiguous numbers: eight sums in blocks of up to 128.
template <typename T>
T pairwise_sum(std::span<const double> values) {
  const auto at = [&](size_t i) { return static_cast<T>(values[i]); };
  const size_t count = values.size();
  constexpr size_t kLanes = 8, kBlock = 128;
  if (count < kLanes) {
    T sum = 0;
    for (size_t i = 0; i < count; ++i) sum += at(i);
    return sum;
  }
  if (count > kBlock) {
    const size_t half = count / 2 - count / 2 % kLanes;
    return pairwise_sum<T>(values.first(half)) + pairwise_sum<T>(values.subspan(half));
  }
  T lanes[kLanes];
  for (size_t k = 0; k < kLanes; ++k) lanes[k] = at(k);
  size_t i = kLanes;
  for (; i + kLanes <= count; i += kLanes)
    for (size_t k = 0; k < kLanes; ++k) lanes[k] += at(i + k);
  T sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
          ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  for (; i < count; ++i) sum += at(i);
  return sum;
}

double in_type(bool is_f32, double value) {
  return is_f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

/// Of sorted scores.
double half_width(const ScoreArray& scores) {
  const size_t lower = scores.values.size() / 40, upper = scores.values.size() - lower - 1;
  return in_type(scores.is_f32,
                 0.5 * in_type(scores.is_f32, scores.values[upper] - scores.values[lower]));
}

}  // namespace

ScoreArray array_of(const std::vector<ResampleScore>& scores) {
  ScoreArray array;
  array.is_f32 = std::ranges::all_of(scores, &ResampleScore::is_f32);
  for (const ResampleScore& score : scores) array.values.push_back(score.value);
  return array;
}

double numpy_mean(const ScoreArray& scores) {
  const auto count = static_cast<double>(scores.values.size());
  if (!scores.is_f32) return pairwise_sum<double>(scores.values) / count;
  return in_type(true, static_cast<double>(pairwise_sum<float>(scores.values)) / count);
}

Interval exact_interval(ScoreArray scores) {
  std::ranges::sort(scores.values);
  long double sum = 0;
  for (const double value : scores.values) sum += value;
  const auto mean = static_cast<double>(sum / static_cast<long double>(scores.values.size()));
  return {in_type(scores.is_f32, mean), half_width(scores)};
}

Interval numpy_interval(ScoreArray scores) {
  std::ranges::sort(scores.values);
  return {numpy_mean(scores), half_width(scores)};
}

double bootstrap_p_value(const ScoreArray& system, const ScoreArray& baseline,
                         double real_difference) {
  ScoreArray differences;
  differences.is_f32 = system.is_f32 && baseline.is_f32;
  for (size_t i = 0; i < system.values.size(); ++i)
    differences.values.push_back(
        in_type(differences.is_f32, std::abs(system.values[i] - baseline.values[i])));
  const double mean = numpy_mean(differences);
  const double real = in_type(differences.is_f32, real_difference);
  const auto larger = std::ranges::count_if(differences.values, [&](double difference) {
    return in_type(differences.is_f32, difference - mean) > real;
  });
  return static_cast<double>(larger + 1) / static_cast<double>(differences.values.size() + 1);
}

}  // namespace heed::metrics
