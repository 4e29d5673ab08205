#include "heed/metrics/calibration_error.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/error.h"

namespace heed::metrics {
namespace {

double error_of(const std::vector<double>& probabilities, const std::vector<double>& outcomes) {
  return expected_calibration_error(probabilities, outcomes);
}

TEST(ExpectedCalibrationError, IsTheMeanDistanceOfBins) {
  // One bin: the means are 0.91 and 0.5.
  EXPECT_NEAR(error_of({0.90, 0.92}, {1, 0}), 0.41, 1e-12);
  // Bins of 0.0 and 0.9, of two and one: (2 * |0.02 - 0.5| + |0.95 - 1|) / 3.
  EXPECT_NEAR(error_of({0.01, 0.03, 0.95}, {0, 1, 1}), (2 * 0.48 + 0.05) / 3, 1e-12);
  // Errors of opposite sign do not cancel across bins.
  EXPECT_NEAR(error_of({0.2, 0.8}, {0.5, 0.5}), 0.3, 1e-12);
  EXPECT_DOUBLE_EQ(error_of({0, 1, 1}, {0, 1, 1}), 0);
  EXPECT_DOUBLE_EQ(error_of({}, {}), 0);
}

TEST(ExpectedCalibrationError, WantsAnOutcomeForEachProbability) {
  EXPECT_THROW(error_of({0.5}, {}), Error);
}

}  // namespace
}  // namespace heed::metrics
