#pragma once

#include <cstdint>

namespace heed::train {

/// Detects values far above the recent ones, by an exponentially weighted mean and variance over
/// about 100 values.
class Outliers {
 public:
  /// `min_deviation`: the least standard deviation assumed, relative to the mean. Without it, a
  /// small change after nearly equal values would be an outlier.
  explicit Outliers(double min_deviation) : min_deviation_(min_deviation) {}

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
  double min_deviation_;
  State state_;
};

}  // namespace heed::train
