#include "heed/inspect/report/report_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/rounding.h"

namespace heed::inspect {
namespace {

using train::StepRecord;
using train::ValidationRecord;

constexpr size_t kMaxPoints = 1000;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Mean, minimum and maximum of the finite values of a group; NaN when there are none.
struct Summary {
  double mean = kUnknown, min = kUnknown, max = kUnknown;
};

Summary summary(std::span<const StepRecord> group, double StepRecord::*member) {
  Summary result;
  double sum = 0;
  int64_t count = 0;
  for (const StepRecord& step : group) {
    const double value = step.*member;
    if (!std::isfinite(value)) continue;
    result.min = count == 0 ? value : std::min(result.min, value);
    result.max = count == 0 ? value : std::max(result.max, value);
    sum += value;
    ++count;
  }
  if (count > 0) result.mean = sum / static_cast<double>(count);
  return result;
}

/// `"name":[1,2,null]`
std::string column(std::string_view name, const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values)
    texts.push_back(std::isfinite(value) ? fmt::format("{:.6g}", value) : "null");
  return fmt::format("\"{}\":[{}]", name, fmt::join(texts, ","));
}

std::string steps_json(const std::vector<StepRecord>& steps) {
  const size_t size = std::max<size_t>(1, ceil_div(steps.size(), kMaxPoints));
  std::vector<std::span<const StepRecord>> groups;
  for (size_t at = 0; at < steps.size(); at += size)
    groups.push_back(std::span(steps).subspan(at, std::min(size, steps.size() - at)));

  std::vector<int64_t> last_steps;
  std::vector<double> seconds;
  for (const auto& group : groups) {
    last_steps.push_back(group.back().step);
    seconds.push_back(group.back().seconds);
  }
  std::vector<std::string> columns = {fmt::format("\"step\":[{}]", fmt::join(last_steps, ",")),
                                      column("seconds", seconds)};
  const auto add = [&](const std::string& name, double StepRecord::*member, bool with_range) {
    std::vector<double> means, minima, maxima;
    for (const auto& group : groups) {
      const Summary of_group = summary(group, member);
      means.push_back(of_group.mean);
      minima.push_back(of_group.min);
      maxima.push_back(of_group.max);
    }
    columns.push_back(column(name, means));
    if (!with_range) return;
    columns.push_back(column(name + "_min", minima));
    columns.push_back(column(name + "_max", maxima));
  };
  add("loss", &StepRecord::loss, true);
  add("gradient_norm", &StepRecord::gradient_norm, true);
  add("learning_rate", &StepRecord::learning_rate, false);
  add("tokens_per_second", &StepRecord::tokens_per_second, false);
  return fmt::format("{{{}}}", fmt::join(columns, ","));
}

std::string validations_json(const std::vector<ValidationRecord>& validations) {
  std::vector<int64_t> steps;
  for (const ValidationRecord& validation : validations) steps.push_back(validation.step);
  std::vector<std::string> columns = {fmt::format("\"step\":[{}]", fmt::join(steps, ","))};
  const auto add = [&](std::string_view name, const auto& value_of) {
    std::vector<double> values;
    for (const ValidationRecord& validation : validations) values.push_back(value_of(validation));
    columns.push_back(column(name, values));
  };
  add("seconds", [](const ValidationRecord& v) { return v.seconds; });
  add("loss", [](const ValidationRecord& v) { return v.loss; });
  add("perplexity",
      [](const ValidationRecord& v) { return v.metrics.empty() ? v.perplexity : kUnknown; });
  add("metric", [](const ValidationRecord& v) { return v.best_by.empty() ? kUnknown : v.score(); });
  add("bleu", [](const ValidationRecord& v) { return v.bleu.value_or(kUnknown); });
  add("chrf", [](const ValidationRecord& v) { return v.chrf.value_or(kUnknown); });
  return fmt::format("{{{}}}", fmt::join(columns, ","));
}

}  // namespace

std::string report_series(const TrainingReport& report) {
  return fmt::format("{{\"steps\":{},\"validations\":{}}}", steps_json(report.steps),
                     validations_json(report.validations));
}

}  // namespace heed::inspect
