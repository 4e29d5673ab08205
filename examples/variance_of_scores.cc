// Why attention divides by sqrt(d): the variance of q.k is proportional to d. The softmax of scores
// with a large variance gives almost all weight to one key, and its gradient vanishes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/matmul.h"
#include "heed/kernels/softmax.h"

namespace {

using heed::Tensor;

constexpr int64_t kQueries = 256, kKeys = 64;

/// [rows, cols] of independent numbers with mean 0 and variance 1.
Tensor normals(int64_t rows, int64_t cols, uint64_t seed) {
  const heed::CounterRandom random(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < rows * cols; ++i)
    values.push_back(static_cast<float>(random.normal(static_cast<uint64_t>(i))));
  return Tensor::of({rows, cols}, values);
}

double variance(const Tensor& x) {
  return heed::kernels::sum_of_squares(x) / static_cast<double>(x.elements());
}

double median(std::vector<double> numbers) {
  std::nth_element(numbers.begin(), numbers.begin() + kQueries / 2, numbers.end());
  return numbers[kQueries / 2];
}

/// Medians over the queries.
struct SoftmaxStatistics {
  double largest_weight;  // 1 / 64 = 0.016 for equal scores
  double gradient;        // norm of the scores' gradient, for weight gradients of variance 1
};

SoftmaxStatistics softmax_statistics(const Tensor& scores) {
  Tensor weights = Tensor::empty(scores.shape()), gradient = Tensor::empty(scores.shape());
  heed::kernels::softmax_forward(scores, weights);
  heed::kernels::softmax_backward(weights, normals(kQueries, kKeys, 3), gradient);
  std::vector<double> largest, norms;
  for (int64_t n = 0; n < kQueries; ++n) {
    const auto row = weights.values<float>().subspan(static_cast<size_t>(n * kKeys), kKeys);
    largest.push_back(*std::max_element(row.begin(), row.end()));
    norms.push_back(std::sqrt(heed::kernels::sum_of_squares(gradient.row_slice(n, n + 1))));
  }
  return {median(largest), median(norms)};
}

}  // namespace

int main() {
  fmt::print("{} queries and {} keys with d standard normal elements\n\n", kQueries, kKeys);
  fmt::print("              |         scores q.k            |       scores q.k / sqrt(d)\n");
  fmt::print("    d         | variance  largest   gradient  | variance  largest   gradient\n");
  fmt::print("              |           weight    of scores |           weight    of scores\n");
  for (const int64_t d : {4, 16, 64, 256, 1024}) {
    Tensor scores = Tensor::empty({kQueries, kKeys});
    heed::kernels::matmul({normals(kQueries, d, 1)}, {normals(kKeys, d, 2), true}, {}, scores);
    fmt::print("{:>5}         |", d);
    for (const bool scaled : {false, true}) {
      if (scaled) heed::kernels::scale(1.0f / std::sqrt(static_cast<float>(d)), scores);
      const auto [largest, gradient] = softmax_statistics(scores);
      fmt::print("{:>9.2f}  {:>7.3f}  {:>10.5f}{}", variance(scores), largest, gradient,
                 scaled ? "\n" : "  |");
    }
  }
  fmt::print(
      "\nUnscaled, the variance is d, one key gets almost all weight, and the gradient vanishes.\n"
      "Scaled, none of the three depends on d.\n");
}
