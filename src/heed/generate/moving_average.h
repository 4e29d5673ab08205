#pragma once

namespace heed::generate {

/// Adds a value with weight 1/5 to an exponential moving average of positive values. 0 is the
/// average of no values.
inline void add_to_average(double& mean, double value) {
  mean = mean == 0 ? value : mean + 0.2 * (value - mean);
}

}  // namespace heed::generate
