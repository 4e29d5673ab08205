// Why attention divides by sqrt(d): the variance of q.k grows as d, softmax of such scores gives
// everything to one word, and then hardly any gradient flows back.
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

/// Of the typical (median) query.
struct Softness {
  double largest_weight;  // 1 / 64 = 0.016 when all keys count alike
  double gradient;        // length of its scores' gradient, for gradients of 1 at the weights
};

Softness softness(const Tensor& scores) {
  Tensor weights = Tensor::empty(scores.shape()), gradient = Tensor::empty(scores.shape());
  heed::kernels::softmax_forward(scores, weights);
  heed::kernels::softmax_backward(weights, normals(kQueries, kKeys, 3), gradient);
  std::vector<double> largest, lengths;
  for (int64_t n = 0; n < kQueries; ++n) {
    const auto row = weights.values<float>().subspan(static_cast<size_t>(n * kKeys), kKeys);
    largest.push_back(*std::max_element(row.begin(), row.end()));
    lengths.push_back(std::sqrt(heed::kernels::sum_of_squares(gradient.row_slice(n, n + 1))));
  }
  return {median(largest), median(lengths)};
}

}  // namespace

int main() {
  fmt::print("{} queries and {} keys of d normal numbers each\n\n", kQueries, kKeys);
  fmt::print("              |         scores q.k            |       scores q.k / sqrt(d)\n");
  fmt::print("    d         | variance  largest   gradient  | variance  largest   gradient\n");
  fmt::print("              |           weight    of scores |           weight    of scores\n");
  for (const int64_t d : {4, 16, 64, 256, 1024}) {
    Tensor scores = Tensor::empty({kQueries, kKeys});
    heed::kernels::matmul({normals(kQueries, d, 1)}, {normals(kKeys, d, 2), true}, {}, scores);
    fmt::print("{:>5}         |", d);
    for (const bool scaled : {false, true}) {
      if (scaled) heed::kernels::scale(1.0f / std::sqrt(static_cast<float>(d)), scores);
      const auto [largest, gradient] = softness(scores);
      fmt::print("{:>9.2f}  {:>7.3f}  {:>10.5f}{}", variance(scores), largest, gradient,
                 scaled ? "\n" : "  |");
    }
  }
  fmt::print(
      "\nUnscaled, the variance is d, one key takes all, and the gradient dries up.\n"
      "Scaled, all three stay where they are, however wide the heads.\n");
}
