#include "heed/inspect/training_report.h"

#include <algorithm>
#include <cmath>

#include "heed/inspect/attention_data.h"
#include "heed/inspect/markup.h"
#include "heed/inspect/page_parts.h"
#include "heed/inspect/report_series.h"
#include "heed/inspect/word_difference.h"

namespace heed::inspect {
namespace {

using Point = TrainingReport::Point;
using Validation = TrainingReport::Validation;

/// "2 h 05 min", "4 min 10 s" or "12 s".
std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "";
  const auto whole = static_cast<int64_t>(std::min(seconds, 1e15));
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

/// "1 234 567", with thin spaces.
std::string grouped(int64_t number) {
  std::string text = fmt::format("{}", number);
  const size_t first = number < 0 ? 1 : 0;
  for (size_t at = text.size(); at > first + 3;) text.insert(at -= 3, "\u202f");
  return text;
}

std::string decimals(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "–";
}

/// The validation with the highest BLEU, or with the lowest loss if none has BLEU. Null when there
/// are no validations.
const Validation* best_of(const std::vector<Validation>& validations) {
  const auto worse = [](const Validation& a, const Validation& b) {
    const auto bleu = [](const Validation& v) { return std::isfinite(v.bleu) ? v.bleu : -1.0; };
    const auto loss = [](const Validation& v) { return std::isfinite(v.loss) ? v.loss : 1e300; };
    return bleu(a) != bleu(b) ? bleu(a) < bleu(b) : loss(a) > loss(b);
  };
  const auto best = std::max_element(validations.begin(), validations.end(), worse);
  return best == validations.end() ? nullptr : &*best;
}

std::string figure(const std::string& name, const std::string& value, const std::string& note) {
  return fmt::format(
      "<div class=\"figure\"><div class=\"name\">{}</div><div class=\"value\">{}</div>"
      "<div class=\"note\">{}</div></div>\n",
      name, value, note);
}

std::string figures(const TrainingReport& report) {
  std::string html;
  if (const Validation* best = best_of(report.validations)) {
    const std::string when = fmt::format("at step {}", grouped(best->step));
    if (std::isfinite(best->bleu)) html += figure("Best BLEU", decimals(best->bleu, 2), when);
    if (std::isfinite(best->chrf)) html += figure("chrF", decimals(best->chrf, 2), when);
    if (std::isfinite(best->perplexity))
      html += figure("Perplexity", decimals(best->perplexity, 2), when);
  }
  if (report.steps.empty()) return html;
  const Point& last = report.steps.back();
  html += figure("Steps", grouped(last.step), "optimiser steps");
  const std::string time = duration(last.seconds);
  if (!time.empty()) html += figure("Time", time, "since the start of the run");
  std::vector<double> speeds;
  for (const Point& point : report.steps)
    if (std::isfinite(point.tokens_per_second)) speeds.push_back(point.tokens_per_second);
  if (speeds.empty()) return html;
  const auto middle = speeds.begin() + static_cast<int64_t>(speeds.size() / 2);
  std::nth_element(speeds.begin(), middle, speeds.end());
  if (std::abs(*middle) < 1e15)
    html += figure("Tokens per second", grouped(std::llround(*middle)), "median over all steps");
  return html;
}

std::string facts(const TrainingReport& report) {
  if (report.facts.empty()) return {};
  std::string html = "<h2>Run</h2>\n<dl class=\"facts\">\n";
  for (const auto& [name, value] : report.facts)
    html += fmt::format("<div><dt>{}</dt><dd dir=\"auto\">{}</dd></div>\n", escaped(name),
                        escaped(value));
  return html + "</dl>\n";
}

/// A column of the validation table.
struct Column {
  const char* name;
  double Validation::*value;
  int digits;
};

/// The columns with at least one known value.
std::vector<Column> columns_of(const std::vector<Validation>& validations) {
  std::vector<Column> columns = {{"loss", &Validation::loss, 4},
                                 {"perplexity", &Validation::perplexity, 2},
                                 {"BLEU", &Validation::bleu, 2},
                                 {"chrF", &Validation::chrf, 2}};
  std::erase_if(columns, [&](const Column& column) {
    return std::none_of(validations.begin(), validations.end(),
                        [&](const Validation& v) { return std::isfinite(v.*column.value); });
  });
  return columns;
}

std::string validations(const TrainingReport& report) {
  if (report.validations.empty()) return {};
  const Validation* best = best_of(report.validations);
  const std::vector<Column> columns = columns_of(report.validations);
  std::string html =
      "<h2>Validations</h2>\n<div class=\"scroll\"><table class=\"validations\">\n<thead><tr>"
      "<th>step</th><th>time</th>";
  for (const Column& column : columns) html += fmt::format("<th>{}</th>", column.name);
  html += "<th></th></tr></thead>\n<tbody>\n";
  for (const Validation& v : report.validations) {
    html += fmt::format("<tr{}><td>{}</td><td>{}</td>", &v == best ? " class=\"best\"" : "",
                        grouped(v.step), duration(v.seconds));
    for (const Column& column : columns)
      html += fmt::format("<td>{}</td>", decimals(v.*column.value, column.digits));
    html += fmt::format("<td>{}</td></tr>\n", &v == best ? "best" : "");
  }
  return html + "</tbody></table></div>\n";
}

std::string capitalised(std::string name) {
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] -= 'a' - 'A';
  return escaped(name);
}

std::string sample_html(const TrainingReport& report, const TrainingReport::Sample& sample,
                        int64_t budget) {
  const auto [reference, output] = marked_differences(sample.reference, sample.output);
  std::string html = "<article class=\"sample\">\n";
  const std::array<std::string, 3> parts{escaped(sample.given), reference, output};
  for (size_t i = 0; i < parts.size(); ++i)
    html += fmt::format("<p><span class=\"side\">{}</span><span dir=\"auto\">{}</span></p>\n",
                        capitalised(report.sample_names[i]), parts[i]);
  if (!sample.attention.maps.empty())
    html += "<details><summary>Attention</summary>\n" + attention_data(sample.attention, budget) +
            "</details>\n";
  return html + "</article>\n";
}

std::string samples(const TrainingReport& report) {
  if (report.samples.empty()) return {};
  std::string html = fmt::format(
      "<h2>Samples</h2>\n<p class=\"hint\"><mark>Marked</mark> words differ between {} and {}. A "
      "difference is not necessarily an error.</p>\n",
      escaped(report.sample_names[1]), escaped(report.sample_names[2]));
  const int64_t budget = kPageBudget / static_cast<int64_t>(report.samples.size());
  for (const TrainingReport::Sample& sample : report.samples)
    html += sample_html(report, sample, budget);
  return html;
}

}  // namespace

std::string training_report(const TrainingReport& report) {
  return filled(page::report_html,
                {{"title", escaped(report.title.empty() ? "Training report" : report.title)},
                 {"style", std::string(page::base_css) + std::string(page::attention_css) +
                               std::string(page::report_css)},
                 {"figures", figures(report)},
                 {"series", report_series(report)},
                 {"validations", validations(report)},
                 {"samples", samples(report)},
                 {"facts", facts(report)},
                 {"script", attention_script() + std::string(page::report_chart_js) +
                                std::string(page::report_view_js)}});
}

}  // namespace heed::inspect
