#pragma once

#include <cstdint>

namespace heed::train {

/// Tells whether a number lies far above its recent history: an exponentially weighted mean and
/// variance over about a hundred numbers.
class Outliers {
 public:
  /// Deviations above the mean; 0 while there is too little history.
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
