#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/parallel.h"
#include "heed/metrics/corpus_metric.h"
#include "heed/metrics/numpy_random.h"
#include "heed/metrics/resample_statistics.h"

namespace heed {
namespace {

using metrics::CorpusMetric;
using metrics::LineCounts;
using metrics::NumpyGenerator;
using metrics::ResampleScore;
using metrics::ScoreArray;
using Test = SignificanceOptions::Test;

/// Random numbers that are held at a time, in all trials together.
constexpr int64_t kDrawnAtOnce = int64_t{1} << 22;

std::unique_ptr<CorpusMetric> metric_of(const MetricChoice& choice) {
  switch (choice.metric) {
    case MetricChoice::Metric::bleu:
      return metrics::bleu_metric();
    case MetricChoice::Metric::chrf:
      return metrics::chrf_metric(choice.chrf);
    case MetricChoice::Metric::ter:
      return metrics::ter_metric(choice.ter);
  }
  fail("unknown metric");
}

int64_t trials_at_once(int64_t trials, int64_t lines) {
  return std::clamp(kDrawnAtOnce / lines, int64_t{1}, trials);
}

/// Calls draw(slot) for each trial in order, then compute(trial, slot) on all threads, for
/// trials_at_once() at a time. `slot` says where draw() puts its numbers, `lines` of each trial.
template <typename Draw, typename Compute>
void run_trials(int64_t trials, int64_t lines, const Draw& draw, const Compute& compute) {
  const int64_t at_once = trials_at_once(trials, lines);
  for (int64_t first = 0; first < trials; first += at_once) {
    const int64_t count = std::min(at_once, trials - first);
    for (int64_t slot = 0; slot < count; ++slot) {
      check_interrupted();
      draw(slot);
    }
    parallel_in_order(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t slot = begin; slot < end; ++slot) {
        check_interrupted();
        compute(first + slot, slot);
      }
    });
  }
}

/// The scores of every system in `trials` resamples of the lines, the same lines for each system.
std::vector<ScoreArray> bootstrap(const CorpusMetric& metric,
                                  const std::vector<LineCounts>& systems, int64_t trials,
                                  uint64_t seed) {
  const int64_t lines = systems.front().lines;
  const size_t columns = systems.front().columns;
  std::vector<std::vector<float>> counts;
  for (const LineCounts& system : systems)
    counts.emplace_back(system.values.begin(), system.values.end());
  std::vector<std::vector<ResampleScore>> scores(
      systems.size(), std::vector<ResampleScore>(static_cast<size_t>(trials)));
  NumpyGenerator generator(seed);
  std::vector<uint32_t> drawn(static_cast<size_t>(trials_at_once(trials, lines) * lines));
  const auto numbers_of = [&](int64_t slot) {
    return std::span(drawn).subspan(static_cast<size_t>(slot * lines), static_cast<size_t>(lines));
  };
  const auto draw = [&](int64_t slot) {
    for (uint32_t& line : numbers_of(slot)) line = generator.integer(static_cast<uint64_t>(lines));
  };
  const auto compute = [&](int64_t trial, int64_t slot) {
    std::vector<float> sums(columns);
    for (size_t s = 0; s < systems.size(); ++s) {
      std::ranges::fill(sums, 0.0F);
      for (const uint32_t line : numbers_of(slot)) {
        const float* const of_line = &counts[s][line * columns];
        for (size_t k = 0; k < columns; ++k) sums[k] += of_line[k];
      }
      scores[s][static_cast<size_t>(trial)] = metric.score(std::span<const float>(sums));
    }
  };
  run_trials(trials, lines, draw, compute);
  std::vector<ScoreArray> arrays;
  for (const std::vector<ResampleScore>& of_system : scores)
    arrays.push_back(metrics::array_of(of_system));
  return arrays;
}

/// The p-value of two systems whose translations of each line are exchanged or not in each trial.
double randomized_p_value(const CorpusMetric& metric, const LineCounts& baseline,
                          const LineCounts& system, const SignificanceOptions& options,
                          double real_difference) {
  const int64_t trials = *options.trials, lines = baseline.lines;
  NumpyGenerator generator(options.seed);
  NumpyGenerator::Bools bools(generator);
  std::vector<uint8_t> exchanged(static_cast<size_t>(trials_at_once(trials, lines) * lines));
  std::vector<uint8_t> larger(static_cast<size_t>(trials));
  const auto draw = [&](int64_t slot) {
    for (int64_t i = 0; i < lines; ++i)
      exchanged[static_cast<size_t>(slot * lines + i)] = bools.next();
  };
  const auto compute = [&](int64_t trial, int64_t slot) {
    // The lines of each system, where the draw is true and where it is false.
    std::vector<double> sums[2][2];
    for (auto& of_system : sums)
      for (std::vector<double>& of_draw : of_system) of_draw.resize(baseline.columns);
    for (int64_t i = 0; i < lines; ++i) {
      const size_t drawn = exchanged[static_cast<size_t>(slot * lines + i)];
      const auto first = baseline.line(i), second = system.line(i);
      for (size_t k = 0; k < baseline.columns; ++k) {
        sums[0][drawn][k] += first[k];
        sums[1][drawn][k] += second[k];
      }
    }
    for (size_t k = 0; k < baseline.columns; ++k) {
      sums[0][1][k] += sums[1][0][k];
      sums[0][0][k] += sums[1][1][k];
    }
    const double difference = metric.score(std::span<const double>(sums[0][1])) -
                              metric.score(std::span<const double>(sums[0][0]));
    larger[static_cast<size_t>(trial)] = std::abs(difference) > real_difference;
  };
  run_trials(trials, lines, draw, compute);
  const auto count = std::ranges::count(larger, uint8_t{1});
  return static_cast<double>(count + 1) / static_cast<double>(trials + 1);
}

void add_bootstrap(const CorpusMetric& metric, const std::vector<LineCounts>& counts,
                   const SignificanceOptions& options, std::vector<SystemScore>& systems) {
  const auto arrays = bootstrap(metric, counts, *options.trials, options.seed);
  const bool paired = options.test == Test::paired_bootstrap;
  for (size_t s = 0; s < systems.size(); ++s) {
    systems[s].interval =
        paired ? metrics::numpy_interval(arrays[s]) : metrics::exact_interval(arrays[s]);
    if (paired && s > 0)
      systems[s].p_value = metrics::bootstrap_p_value(
          arrays[s], arrays[0], std::abs(systems[0].score - systems[s].score));
  }
}

void add_test(const CorpusMetric& metric, const std::vector<LineCounts>& counts,
              const SignificanceOptions& options, std::vector<SystemScore>& systems) {
  if (options.test != Test::paired_approximate_randomization)
    return add_bootstrap(metric, counts, options, systems);
  for (size_t s = 1; s < systems.size(); ++s)
    systems[s].p_value = randomized_p_value(metric, counts[0], counts[s], options,
                                            std::abs(systems[0].score - systems[s].score));
}

/// The options with a number of trials, which must be right.
SignificanceOptions checked(SignificanceOptions options, size_t systems) {
  const bool randomized = options.test == Test::paired_approximate_randomization;
  require(systems > 0, "expected at least one system, found none");
  require(systems > 1 || (options.test != Test::paired_bootstrap && !randomized),
          "a paired test needs at least two systems, found 1");
  options.trials = options.trials.value_or(randomized ? 10'000 : 1'000);
  require(*options.trials >= 1 && *options.trials <= SignificanceOptions::kMaxTrials,
          "the number of trials is {}, expected 1 to {}", *options.trials,
          SignificanceOptions::kMaxTrials);
  return options;
}

}  // namespace

SystemScores score_systems(const MetricChoice& choice,
                           const std::vector<std::vector<std::string>>& systems,
                           const std::vector<std::vector<std::string>>& references,
                           const SignificanceOptions& given) {
  const SignificanceOptions options = checked(given, systems.size());
  const auto metric = metric_of(choice);
  SystemScores result;
  result.name = metric->name();
  std::vector<LineCounts> counts;
  for (const std::vector<std::string>& system : systems) {
    counts.push_back(metrics::count_lines(*metric, system, references));
    result.systems.emplace_back().score =
        metric->score(std::span<const double>(counts.back().sums()));
  }
  std::string trials;
  if (options.test != Test::none) {
    add_test(*metric, counts, options, result.systems);
    trials = fmt::format("{}:{}|seed:{}",
                         options.test == Test::paired_approximate_randomization ? "ar" : "bs",
                         *options.trials, options.seed);
  }
  for (size_t s = 0; s < systems.size(); ++s) {
    SystemScore& system = result.systems[s];
    system.text =
        metrics::text_of(result.name, system.score, system.interval ? &*system.interval : nullptr,
                         metric->details(counts[s].sums()));
  }
  result.signature =
      metrics::signature_of(static_cast<int64_t>(references.size()), trials, metric->settings());
  return result;
}

}  // namespace heed
