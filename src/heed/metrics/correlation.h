#pragma once

#include <span>

namespace heed::metrics {

/// Pearson's correlation of two lists of numbers as scipy.stats computes it, but 0 where one of
/// them is constant and scipy has NaN. Throws Error unless they are equally long and not empty.
double pearson(std::span<const double> a, std::span<const double> b);

/// Spearman's: Pearson's of the ranks, of which equal numbers share the mean.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace heed::metrics
