#include "heed/train/losses/score_losses.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/parallel.h"

namespace heed::train {
namespace {

constexpr int64_t kRowsPerTask = 16;

/// x / temperature of each becomes its softmax; returns the logarithm of the sum of exponentials.
double softmax(double temperature, std::span<double> x) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (double& one : x) largest = std::max(largest, one /= temperature);
  for (const double one : x) sum += std::exp(one - largest);
  const double log_sum = largest + std::log(sum);
  for (double& one : x) one = std::exp(one - log_sum);
  return log_sum;
}

}  // namespace

std::vector<int32_t> candidates_of(const TextPlaces& places) {
  std::vector<int32_t> texts;
  for (size_t i = 0; i < places.count(); ++i)
    texts.push_back(static_cast<int32_t>(places.begin(i)) + 1);
  for (size_t i = 0; i < places.count(); ++i)
    for (size_t n = 2; n < places.texts(i); ++n)
      texts.push_back(static_cast<int32_t>(places.begin(i) + n));
  return texts;
}

std::vector<double> contrast(const TextPlaces& places, double scale,
                             const std::vector<int32_t>& candidates, Tensor& scores) {
  const data::TextGroups& groups = places.groups_;
  const size_t examples = places.count(), width = candidates.size();
  std::vector<double> losses(examples);
  const auto text = [&](size_t candidate) {
    return groups.texts[static_cast<size_t>(candidates[candidate])];
  };
  parallel_for(static_cast<int64_t>(examples), kRowsPerTask, [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
      float* const row = scores.data<float>() + i * width;
      const uint64_t query = groups.texts[places.begin(i)];
      const auto is_answer = [&](size_t j) {
        return j != i &&
               (text(j) == text(i) || (j < examples && groups.texts[places.begin(j)] == query));
      };
      double largest = -1e300, sum = 0;
      for (size_t j = 0; j < width; ++j)
        if (!is_answer(j)) largest = std::max(largest, scale * static_cast<double>(row[j]));
      for (size_t j = 0; j < width; ++j)
        if (!is_answer(j)) sum += std::exp(scale * static_cast<double>(row[j]) - largest);
      losses[i] = std::log(sum) + largest - scale * static_cast<double>(row[i]);
      for (size_t j = 0; j < width; ++j) {
        const double p =
            is_answer(j) ? 0 : std::exp(scale * static_cast<double>(row[j]) - largest) / sum;
        row[j] = static_cast<float>(scale * (p - (j == i ? 1 : 0)) / static_cast<double>(examples));
      }
    }
  });
  return losses;
}

std::vector<double> margin_mse(const TextPlaces& places, const TextScores& texts) {
  std::vector<double> losses(places.count());
  std::ranges::fill(texts.slopes, 0.0);
  for (size_t i = 0; i < places.count(); ++i) {
    const size_t document = places.begin(i) + 1, negatives = places.texts(i) - 2;
    const double each = 1 / static_cast<double>(negatives);
    for (size_t n = 0; n < negatives; ++n) {
      const size_t negative = document + 1 + n;
      const double error = texts.scores[document] - texts.scores[negative] - places.score(i, n);
      losses[i] += each * error * error;
      const double slope = 2 * each * error / static_cast<double>(places.count());
      texts.slopes[document] += slope;
      texts.slopes[negative] -= slope;
    }
  }
  return losses;
}

std::vector<double> kl_divergence(const TextPlaces& places, const TextScores& texts) {
  const data::VectorLossOptions& options = places.groups_.options;
  std::vector<double> losses(places.count()), known, q, p;
  std::ranges::fill(texts.slopes, 0.0);
  for (size_t i = 0; i < places.count(); ++i) {
    const size_t document = places.begin(i) + 1, candidates = places.texts(i) - 1;
    const auto scores = texts.scores.subspan(document, candidates);
    known.clear();
    for (size_t c = 0; c < candidates; ++c) known.push_back(places.score(i, c));
    q.assign(scores.begin(), scores.end());
    p = known;
    const double log_q = softmax(options.temperature, q),
                 log_p = softmax(options.teacher_temperature, p);
    for (size_t c = 0; c < candidates; ++c) {
      const double difference = known[c] / options.teacher_temperature - log_p -
                                (scores[c] / options.temperature - log_q);
      losses[i] += options.temperature * options.temperature * p[c] * difference;
      texts.slopes[document + c] =
          options.temperature * (q[c] - p[c]) / static_cast<double>(places.count());
    }
  }
  return losses;
}

}  // namespace heed::train
