#include "heed/train/optimizers/outliers.h"

#include <algorithm>
#include <cmath>

namespace heed::train {
namespace {

constexpr int64_t kEnoughHistory = 100;
constexpr double kWeight = 0.02;

}  // namespace

double Outliers::z_score(double value) const {
  if (state_.count < kEnoughHistory) return 0;
  const double deviation =
      std::max(std::sqrt(state_.variance), min_deviation_ * std::abs(state_.mean) + 1e-12);
  return (value - state_.mean) / deviation;
}

void Outliers::add(double value) {
  // Up to 1 / kWeight values the plain mean; then old values decay exponentially.
  const double weight = std::max(kWeight, 1.0 / static_cast<double>(++state_.count));
  const double difference = value - state_.mean;
  state_.mean += weight * difference;
  state_.variance = (1.0 - weight) * (state_.variance + weight * difference * difference);
}

}  // namespace heed::train
