#include "heed/metrics/calibration_error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "heed/base/error.h"

namespace heed::metrics {

double expected_calibration_error(std::span<const double> probabilities,
                                  std::span<const double> outcomes) {
  require(probabilities.size() == outcomes.size(), "{} probabilities have {} outcomes",
          probabilities.size(), outcomes.size());
  if (probabilities.empty()) return 0;
  constexpr size_t kBins = 15;
  std::array<double, kBins> difference{};  // of the sums in each bin
  for (size_t i = 0; i < probabilities.size(); ++i) {
    const double p = std::clamp(probabilities[i], 0.0, 1.0);
    const size_t bin = std::min(static_cast<size_t>(p * double{kBins}), kBins - 1);
    difference[bin] += p - outcomes[i];
  }
  double sum = 0;
  for (const double one : difference) sum += std::abs(one);
  return sum / static_cast<double>(probabilities.size());
}

}  // namespace heed::metrics
