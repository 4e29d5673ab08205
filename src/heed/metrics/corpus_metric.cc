#include "heed/metrics/corpus_metric.h"

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/parallel.h"
#include "heed/metrics/metric_version.h"

namespace heed::metrics {
namespace {

/// Lines that a thread counts at a time. TER takes milliseconds for a line.
constexpr int64_t kLinesPerChunk = 8;

void check_lines(const std::string& name, const std::vector<std::string>& hypotheses,
                 const std::vector<std::vector<std::string>>& references) {
  require(!references.empty(), "{} needs at least one reference per translation, found none", name);
  for (const std::vector<std::string>& file : references)
    require(hypotheses.size() == file.size(),
            "{} needs one reference per translation, found {} translations and {} references", name,
            hypotheses.size(), file.size());
  require(!hypotheses.empty(), "{} needs at least one translation, found none", name);
}

}  // namespace

std::vector<double> LineCounts::sums() const {
  std::vector<double> sums(columns);
  for (size_t i = 0; i < values.size(); ++i) sums[i % columns] += values[i];
  return sums;
}

LineCounts count_lines(const CorpusMetric& metric, const std::vector<std::string>& hypotheses,
                       const std::vector<std::vector<std::string>>& references) {
  check_lines(metric.name(), hypotheses, references);
  LineCounts counts;
  counts.lines = static_cast<int64_t>(hypotheses.size());
  counts.columns = metric.columns();
  counts.values.resize(hypotheses.size() * counts.columns);
  parallel_in_order(counts.lines, kLinesPerChunk, [&](int64_t begin, int64_t end) {
    std::vector<std::string_view> of_line(references.size());
    for (int64_t i = begin; i < end; ++i) {
      check_interrupted();
      const auto index = static_cast<size_t>(i);
      for (size_t r = 0; r < references.size(); ++r) of_line[r] = references[r][index];
      try {
        metric.count(hypotheses[index], of_line,
                     std::span(counts.values).subspan(index * counts.columns, counts.columns));
      } catch (const Error& error) {
        fail("line {}: {}", i + 1, error.what());
      }
    }
  });
  return counts;
}

std::string text_of(const std::string& name, double score, const Interval* interval,
                    const std::string& details) {
  std::string text = fmt::format("{} = {:.2f}", name, score);
  if (interval)
    text += fmt::format(" (\u03BC = {:.2f} \u00B1 {:.2f})", interval->mean, interval->half_width);
  return details.empty() ? text : text + ' ' + details;
}

std::string signature_of(int64_t references, const std::string& trials,
                         const std::string& settings) {
  return fmt::format("nrefs:{}|{}{}{}|version:{}", references, trials, trials.empty() ? "" : "|",
                     settings, kMetricVersion);
}

}  // namespace heed::metrics
