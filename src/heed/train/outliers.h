#pragma once

#include <cstdint>

namespace heed::train {

/// Detects values far above the recent ones, by an exponentially weighted mean and variance over
/// about 100 values.
class Outliers {
 public:
  /// Standard deviations above the mean; 0 until 100 values were added.
  double z_score(double value) const;
  void add(double value);

  struct State {
    int64_t count = 0;
    double mean = 0, variance = 0;
  };
  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  State state_;
};

}  // namespace heed::train
