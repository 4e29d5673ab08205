#pragma once

#include <vector>

#include "heed/metrics/corpus_metric.h"

/// Statistics of the scores of resamples, with the roundings of numpy: an array is f32 if all of
/// its scores are.
namespace heed::metrics {

struct ScoreArray {
  std::vector<double> values;
  bool is_f32 = false;
};

ScoreArray array_of(const std::vector<ResampleScore>& scores);

/// numpy's mean(): the pairwise sum, divided.
double numpy_mean(const ScoreArray& scores);

/// What sacrebleu says of one system alone: the mean as Python's statistics.mean() rounds it, and
/// half the distance between the scores 1/40 from both ends.
Interval exact_interval(ScoreArray scores);
/// What it says in a paired test, where the mean is numpy's.
Interval numpy_interval(ScoreArray scores);

/// The share of resamples in which the difference of two systems, less its mean, exceeds the real
/// one, counting the real one as well.
double bootstrap_p_value(const ScoreArray& system, const ScoreArray& baseline,
                         double real_difference);

}  // namespace heed::metrics
