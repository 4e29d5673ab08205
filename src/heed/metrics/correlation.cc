#include "heed/metrics/correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

/// Ranks from 1.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + 1 + end) / 2;
  }
  return ranks;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double pearson(std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size() && !a.empty(), "there are {} numbers to compare with {}", a.size(),
          b.size());
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double products = 0, squares_a = 0, squares_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a[i] - mean_a, y = b[i] - mean_b;
    products += x * y;
    squares_a += x * x;
    squares_b += y * y;
  }
  if (squares_a == 0 || squares_b == 0) return 0;
  return std::clamp(products / (std::sqrt(squares_a) * std::sqrt(squares_b)), -1.0, 1.0);
}

double spearman(std::span<const double> a, std::span<const double> b) {
  return pearson(ranks_of(a), ranks_of(b));
}

}  // namespace heed::metrics
