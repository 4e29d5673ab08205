#include "heed/metrics/classification.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

struct ClassCounts {
  int64_t hits = 0, predicted = 0, expected = 0;

  /// 2 TP / (2 TP + FP + FN), which is the harmonic mean of precision and recall.
  double f1() const {
    const int64_t all = predicted + expected;
    return all == 0 ? 0 : 2.0 * static_cast<double>(hits) / static_cast<double>(all);
  }
  ClassCounts& operator+=(const ClassCounts& other) {
    hits += other.hits;
    predicted += other.predicted;
    expected += other.expected;
    return *this;
  }
};

void require_as_many(size_t targets, size_t predictions) {
  require(targets == predictions && targets > 0, "there are {} predictions for {} targets",
          predictions, targets);
}

double share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

ClassificationScores classification_scores(std::span<const int32_t> targets,
                                           std::span<const int32_t> predictions) {
  require_as_many(targets.size(), predictions.size());
  std::map<int32_t, ClassCounts> classes;
  int64_t right = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    ++classes[targets[i]].expected;
    ++classes[predictions[i]].predicted;
    if (targets[i] != predictions[i]) continue;
    ++classes[targets[i]].hits;
    ++right;
  }
  ClassificationScores scores{.accuracy = share(right, std::ssize(targets))};
  ClassCounts all;
  for (const auto& [number, counts] : classes) {
    scores.f1_macro += counts.f1() / static_cast<double>(classes.size());
    all += counts;
  }
  scores.f1_micro = all.f1();
  return scores;
}

ClassificationScores multilabel_scores(std::span<const uint8_t> targets,
                                       std::span<const uint8_t> predictions, int64_t classes) {
  require_as_many(targets.size(), predictions.size());
  std::vector<ClassCounts> counts(static_cast<size_t>(classes));
  int64_t right = 0, rows = 0;
  for (size_t row = 0; row < targets.size(); row += counts.size(), ++rows) {
    bool same = true;
    for (size_t c = 0; c < counts.size(); ++c) {
      const bool expected = targets[row + c] != 0, predicted = predictions[row + c] != 0;
      counts[c] += {.hits = expected && predicted, .predicted = predicted, .expected = expected};
      same = same && expected == predicted;
    }
    right += same ? 1 : 0;
  }
  ClassificationScores scores{.accuracy = share(right, rows)};
  ClassCounts all;
  for (const ClassCounts& one : counts) {
    scores.f1_macro += one.f1() / static_cast<double>(classes);
    all += one;
  }
  scores.f1_micro = all.f1();
  return scores;
}

double average_precision(std::span<const uint8_t> targets, std::span<const double> scores) {
  require_as_many(targets.size(), scores.size());
  std::vector<size_t> order(targets.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  const auto positives = std::ranges::count_if(targets, [](uint8_t target) { return target != 0; });
  if (positives == 0) return 0;
  double area = 0;
  int64_t hits = 0, hits_before = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    hits += targets[order[i]] != 0 ? 1 : 0;
    if (i + 1 < order.size() && scores[order[i + 1]] == scores[order[i]]) continue;
    area += share(hits - hits_before, positives) * share(hits, static_cast<int64_t>(i) + 1);
    hits_before = hits;
  }
  return area;
}

}  // namespace heed::metrics
