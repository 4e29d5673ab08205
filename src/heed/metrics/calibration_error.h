#pragma once

#include <span>

namespace heed::metrics {

/// The expected calibration error (Naeini et al. 2015; Guo et al. 2017, equation 3) of
/// probabilities: they are put into 15 bins of equal width, and the error is the mean over all of
/// how far the mean probability of its bin is from the mean outcome there. Outcomes are 0 to 1.
/// Throws Error when the numbers of the two differ; 0 without any.
double expected_calibration_error(std::span<const double> probabilities,
                                  std::span<const double> outcomes);

}  // namespace heed::metrics
