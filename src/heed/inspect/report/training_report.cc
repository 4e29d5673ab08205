#include "heed/inspect/report/training_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "heed/base/display.h"
#include "heed/inspect/attention/attention_page.h"
#include "heed/inspect/markup.h"
#include "heed/inspect/page_parts.h"
#include "heed/inspect/report/report_series.h"
#include "heed/inspect/report/word_difference.h"

namespace heed::inspect {
namespace {

using train::StepRecord;
using train::ValidationRecord;

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// "2 h 05 min", "4 min 10 s" or "12 s".
std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "";
  const auto whole = static_cast<int64_t>(std::min(seconds, 1e15));
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

std::string decimals(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "–";
}

/// The validation with the highest BLEU or other metric by which the best model is chosen, or with
/// the lowest loss if none has one. Null when there are no validations.
const ValidationRecord* best_of(const std::vector<ValidationRecord>& validations) {
  const auto worse = [](const ValidationRecord& a, const ValidationRecord& b) {
    const auto bleu = [](const ValidationRecord& v) {
      if (!v.best_by.empty()) return v.score();
      return v.bleu && std::isfinite(*v.bleu) ? *v.bleu : -1.0;
    };
    const auto loss = [](const ValidationRecord& v) {
      return std::isfinite(v.loss) ? v.loss : 1e300;
    };
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
  if (const ValidationRecord* best = best_of(report.validations)) {
    const std::string when = fmt::format("at step {}", grouped(best->step));
    const auto add = [&](const char* name, double value) {
      if (std::isfinite(value)) html += figure(name, decimals(value, 2), when);
    };
    add("Best BLEU", best->bleu.value_or(kNoValue));
    add("chrF", best->chrf.value_or(kNoValue));
    for (const auto& [name, value] : best->metrics)
      html += figure(escaped(name), decimals(value, 4), when);
    if (best->metrics.empty()) add("Perplexity", best->perplexity);
  }
  if (report.steps.empty()) return html;
  const StepRecord& last = report.steps.back();
  html += figure("Steps", grouped(last.step), "optimiser steps");
  const std::string time = duration(last.seconds);
  if (!time.empty()) html += figure("Time", time, "since the start of the run");
  std::vector<double> speeds;
  for (const StepRecord& step : report.steps)
    if (std::isfinite(step.tokens_per_second)) speeds.push_back(step.tokens_per_second);
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
  std::string name;
  int digits;
  std::function<double(const ValidationRecord& validation)> value;  // NaN: unknown
};

/// The columns with at least one known value.
std::vector<Column> columns_of(const std::vector<ValidationRecord>& validations) {
  std::vector<Column> columns = {
      {"loss", 4, [](const ValidationRecord& v) { return v.loss; }},
      {"perplexity", 2,
       [](const ValidationRecord& v) { return v.metrics.empty() ? v.perplexity : kNoValue; }},
      {"BLEU", 2, [](const ValidationRecord& v) { return v.bleu.value_or(kNoValue); }},
      {"chrF", 2, [](const ValidationRecord& v) { return v.chrf.value_or(kNoValue); }}};
  for (const auto& [name, value] : validations.front().metrics)
    columns.push_back({name, 4, [name = name](const ValidationRecord& v) {
                         const auto found = v.metrics.find(name);
                         return found == v.metrics.end() ? kNoValue : found->second;
                       }});
  std::erase_if(columns, [&](const Column& column) {
    return std::ranges::none_of(
        validations, [&](const ValidationRecord& v) { return std::isfinite(column.value(v)); });
  });
  return columns;
}

std::string validations(const TrainingReport& report) {
  if (report.validations.empty()) return {};
  const ValidationRecord* best = best_of(report.validations);
  const std::vector<Column> columns = columns_of(report.validations);
  std::string html =
      "<h2>Validations</h2>\n<div class=\"scroll\"><table class=\"validations\">\n<thead><tr>"
      "<th>step</th><th>time</th>";
  for (const Column& column : columns) html += fmt::format("<th>{}</th>", escaped(column.name));
  html += "<th></th></tr></thead>\n<tbody>\n";
  for (const ValidationRecord& v : report.validations) {
    html += fmt::format("<tr{}><td>{}</td><td>{}</td>", &v == best ? " class=\"best\"" : "",
                        grouped(v.step), duration(v.seconds));
    for (const Column& column : columns)
      html += fmt::format("<td>{}</td>", decimals(column.value(v), column.digits));
    html += fmt::format("<td>{}</td></tr>\n", &v == best ? "best" : "");
  }
  return html + "</tbody></table></div>\n";
}

std::string capitalised(std::string name) {
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] -= 'a' - 'A';
  return escaped(name);
}

std::string sample_html(const TrainingReport::Sample& sample, const train::SampleNames& names) {
  const auto [reference, output] = marked_differences(sample.texts.reference, sample.texts.output);
  std::string html = "<article class=\"sample\">\n";
  const auto add = [&](const std::string& name, const std::string& text) {
    html += fmt::format("<p><span class=\"side\">{}</span><span dir=\"auto\">{}</span></p>\n",
                        capitalised(name), text);
  };
  add(names.input, escaped(sample.texts.input));
  add(names.reference, reference);
  add(names.output, output);
  if (!sample.attention.weights.maps.empty())
    html += "<details><summary>Attention</summary>\n" + attention_element(sample.attention) +
            "</details>\n";
  return html + "</article>\n";
}

std::string samples(const TrainingReport& report) {
  if (report.samples.empty()) return {};
  std::string html = fmt::format(
      "<h2>Samples</h2>\n<p class=\"hint\"><mark>Marked</mark> words differ between {} and {}. A "
      "difference is not necessarily an error.</p>\n",
      escaped(report.sample_names.reference), escaped(report.sample_names.output));
  for (const TrainingReport::Sample& sample : report.samples)
    html += sample_html(sample, report.sample_names);
  return html;
}

}  // namespace

std::string training_report(const TrainingReport& report) {
  return fill_template(
      page::report_html,
      {{"title", escaped(report.title)},
       {"style", std::string(page::base_css) + std::string(page::attention_css) +
                     std::string(page::figures_css) + std::string(page::report_css)},
       {"figures", figures(report)},
       {"series", report_series(report)},
       {"validations", validations(report)},
       {"samples", samples(report)},
       {"facts", facts(report)},
       {"script", std::string(page::attention_js) + std::string(page::report_chart_js) +
                      std::string(page::report_view_js)}});
}

}  // namespace heed::inspect
