#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/metrics.h"

namespace heed::metrics {

/// A score of sums in f32. numpy computes most scores of such sums in f32, too, and its statistics
/// over them likewise.
struct ResampleScore {
  double value = 0;
  bool is_f32 = false;
};

/// A metric that scores sums over lines, as sacrebleu's classes do: what it counts in a line, and
/// the score of sums of such counts. All members are const and thread-safe.
class CorpusMetric {
 public:
  virtual ~CorpusMetric() = default;

  /// "BLEU", "chrF2++", "TER".
  virtual std::string name() const = 0;
  /// The metric's own part of the signature: "case:mixed|eff:no|tok:13a|smooth:exp".
  virtual std::string settings() const = 0;
  /// How many numbers are counted in a line.
  virtual size_t columns() const = 0;
  /// Counts in a line, beside its references (at least one), into counts[columns()].
  virtual void count(std::string_view hypothesis, std::span<const std::string_view> references,
                     std::span<double> counts) const = 0;
  /// The score of sums[columns()].
  virtual double score(std::span<const double> sums) const = 0;
  /// The same of sums in f32, with the roundings of sacrebleu under numpy 2.
  virtual ResampleScore score(std::span<const float> sums) const = 0;
  /// What the metric's text says after the score.
  virtual std::string details(std::span<const double> /*sums*/) const { return {}; }
};

std::unique_ptr<CorpusMetric> bleu_metric();
/// Throws Error when an option is out of range.
std::unique_ptr<CorpusMetric> chrf_metric(const ChrfOptions& options);
std::unique_ptr<CorpusMetric> ter_metric(const TerOptions& options);

/// The counts of all lines of one system.
struct LineCounts {
  int64_t lines = 0;
  size_t columns = 0;
  std::vector<double> values;  // [lines, columns]

  std::span<const double> line(int64_t index) const {
    return std::span(values).subspan(static_cast<size_t>(index) * columns, columns);
  }
  /// Over all lines, in their order: [columns].
  std::vector<double> sums() const;
};

/// Counts on all threads. `references` are files of references: each has a line for each
/// hypothesis. Throws Error when there are no lines or no references, when numbers of lines
/// differ, or, with its line, when a line is too long for the metric.
LineCounts count_lines(const CorpusMetric& metric, const std::vector<std::string>& hypotheses,
                       const std::vector<std::vector<std::string>>& references);

/// "BLEU = 61.23 (μ = 61.20 ± 1.30) 80.0/66.7/...".
std::string text_of(const std::string& name, double score, const Interval* interval,
                    const std::string& details);
/// "nrefs:1|bs:1000|seed:12345|case:mixed|...|version:heed-0.1.0": `trials` are the fields of a
/// significance test, which may be empty.
std::string signature_of(int64_t references, const std::string& trials,
                         const std::string& settings);

}  // namespace heed::metrics
