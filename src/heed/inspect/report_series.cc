#include "heed/inspect/report_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/rounding.h"

namespace heed::inspect {
namespace {

using Point = TrainingReport::Point;
using Validation = TrainingReport::Validation;

constexpr size_t kMaxPoints = 1000;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Mean, minimum and maximum of the finite values of a group; NaN when there are none.
struct Summary {
  double mean = kUnknown, min = kUnknown, max = kUnknown;
};

Summary summary(std::span<const Point> group, double Point::*member) {
  Summary result;
  double sum = 0;
  int64_t count = 0;
  for (const Point& point : group) {
    const double value = point.*member;
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

std::string steps_json(const std::vector<Point>& steps) {
  const size_t size = std::max<size_t>(1, ceil_div(steps.size(), kMaxPoints));
  std::vector<std::span<const Point>> groups;
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
  const auto add = [&](const std::string& name, double Point::*member, bool with_range) {
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
  add("loss", &Point::loss, true);
  add("gradient_norm", &Point::gradient_norm, true);
  add("learning_rate", &Point::learning_rate, false);
  add("tokens_per_second", &Point::tokens_per_second, false);
  return fmt::format("{{{}}}", fmt::join(columns, ","));
}

std::string validations_json(const std::vector<Validation>& validations) {
  std::vector<int64_t> steps;
  for (const Validation& validation : validations) steps.push_back(validation.step);
  std::vector<std::string> columns = {fmt::format("\"step\":[{}]", fmt::join(steps, ","))};
  const auto add = [&](std::string_view name, double Validation::*member) {
    std::vector<double> values;
    for (const Validation& validation : validations) values.push_back(validation.*member);
    columns.push_back(column(name, values));
  };
  add("seconds", &Validation::seconds);
  add("loss", &Validation::loss);
  add("perplexity", &Validation::perplexity);
  add("bleu", &Validation::bleu);
  add("chrf", &Validation::chrf);
  return fmt::format("{{{}}}", fmt::join(columns, ","));
}

}  // namespace

std::string report_series(const TrainingReport& report) {
  return fmt::format("{{\"steps\":{},\"validations\":{}}}", steps_json(report.steps),
                     validations_json(report.validations));
}

}  // namespace heed::inspect
