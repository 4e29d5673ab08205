#pragma once

namespace heed::generate {

/// Adds a value, which counts a fifth, to a moving average of positive values; 0: of none so far.
inline void add_to_average(double& mean, double value) {
  mean = mean == 0 ? value : mean + 0.2 * (value - mean);
}

}  // namespace heed::generate
