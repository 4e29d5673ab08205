#include "heed/train/tasks/labels/label_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "heed/metrics/classification.h"
#include "heed/metrics/correlation.h"
#include "heed/metrics/retrieval.h"

namespace heed::train {
namespace {

/// The number of the largest of each `width` numbers.
std::vector<int32_t> largest_of(std::span<const float> logits, size_t width) {
  std::vector<int32_t> classes;
  for (size_t row = 0; row < logits.size(); row += width) {
    const auto own = logits.subspan(row, width);
    classes.push_back(static_cast<int32_t>(std::ranges::max_element(own) - own.begin()));
  }
  return classes;
}

/// A span of tokens: its kind, the first token, and the one after the last.
using TokenSpan = std::tuple<std::string, size_t, size_t>;

/// The spans of a text's labels, as seqeval reads B- and I-.
std::vector<TokenSpan> spans_of(std::span<const int32_t> labels,
                                const std::vector<std::string>& names) {
  std::vector<TokenSpan> spans;
  std::string open;
  for (size_t token = 0; token < labels.size(); ++token) {
    const std::string& name = names[static_cast<size_t>(labels[token])];
    const bool outside = name == "O";
    const std::string kind = name.starts_with("B-") || name.starts_with("I-") ? name.substr(2)
                             : outside                                        ? ""
                                                                              : name;
    if (!outside && (name.starts_with("B-") || kind != open || spans.empty()))
      spans.emplace_back(kind, token, token);
    if (!outside) std::get<2>(spans.back()) = token + 1;
    open = kind;
  }
  return spans;
}

void add_classes(const LabelledTargets& targets, std::span<const std::vector<float>> logits,
                 ValidationRecord& record) {
  std::vector<int32_t> expected, predicted;
  int64_t found = 0, known = 0, right = 0;  // spans
  for (size_t i = 0; i < targets.texts.size(); ++i) {
    const data::LabelledText& text = targets.texts[i];
    const std::vector<int32_t> own = largest_of(logits[i], targets.names.size());
    expected.insert(expected.end(), text.classes.begin(), text.classes.end());
    predicted.insert(predicted.end(), own.begin(), own.end());
    if (!targets.of_tokens) continue;
    const auto spans = spans_of(text.classes, targets.names), made = spans_of(own, targets.names);
    const std::set<TokenSpan> set(spans.begin(), spans.end());
    known += std::ssize(spans);
    found += std::ssize(made);
    right += std::ranges::count_if(made, [&](const TokenSpan& one) { return set.contains(one); });
  }
  const auto scores = metrics::classification_scores(expected, predicted);
  record.metrics = {
      {"accuracy", scores.accuracy}, {"f1_macro", scores.f1_macro}, {"f1_micro", scores.f1_micro}};
  record.best_by = "accuracy";
  if (!targets.of_tokens) return;
  record.metrics["f1_spans"] =
      known + found == 0 ? 0.0
                         : 2.0 * static_cast<double>(right) / static_cast<double>(known + found);
  record.best_by = "f1_spans";
}

void add_several(const LabelledTargets& targets, std::span<const std::vector<float>> logits,
                 ValidationRecord& record) {
  std::vector<uint8_t> expected, predicted;
  for (size_t i = 0; i < targets.texts.size(); ++i) {
    for (const float value : targets.texts[i].values) expected.push_back(value > 0.5f ? 1 : 0);
    for (const float logit : logits[i]) predicted.push_back(logit > 0 ? 1 : 0);
  }
  const auto scores =
      metrics::multilabel_scores(expected, predicted, static_cast<int64_t>(targets.names.size()));
  record.metrics = {
      {"accuracy", scores.accuracy}, {"f1_macro", scores.f1_macro}, {"f1_micro", scores.f1_micro}};
  record.best_by = "f1_micro";
}

void add_correlations(std::span<const double> expected, std::span<const double> predicted,
                      ValidationRecord& record) {
  record.metrics["pearson"] = metrics::pearson(expected, predicted);
  record.metrics["spearman"] = metrics::spearman(expected, predicted);
  record.best_by = "spearman";
}

/// nDCG and MRR of the documents of each query that has several and a relevant one.
void add_rankings(const LabelledTargets& targets, std::span<const std::vector<float>> logits,
                  ValidationRecord& record) {
  struct Ranking {
    std::vector<float> scores = {};
    std::vector<int64_t> answers = {};
  };
  std::map<int64_t, Ranking> queries;
  for (size_t i = 0; i < targets.texts.size(); ++i) {
    Ranking& query = queries[targets.queries[i]];
    if (targets.texts[i].values.front() > 0.5f) query.answers.push_back(std::ssize(query.scores));
    query.scores.push_back(logits[i].front());
  }
  metrics::RetrievalScores sum;
  int64_t count = 0;
  for (const auto& [number, query] : queries) {
    if (query.answers.empty() || query.scores.size() < 2) continue;
    sum += metrics::retrieval_scores(query.scores, query.answers);
    ++count;
  }
  if (count == 0) return;
  const auto mean = metrics::mean_of_queries(sum, count);
  record.metrics["ndcg@10"] = mean.ndcg_10;
  record.metrics["mrr@10"] = mean.mrr_10;
  record.best_by = "ndcg@10";
}

/// Of texts whose logits are compared with each other: what is known of the differences.
void add_margins(const LabelledTargets& targets, std::span<const std::vector<float>> logits,
                 ValidationRecord& record) {
  std::vector<double> expected, predicted;
  for (size_t i = 0; i < targets.texts.size(); ++i)
    for (size_t n = 0; n < targets.texts[i].values.size(); ++n) {
      expected.push_back(static_cast<double>(targets.texts[i].values[n]));
      predicted.push_back(static_cast<double>(logits[i][0]) -
                          static_cast<double>(logits[i][n + 1]));
    }
  add_correlations(expected, predicted, record);
}

void add_numbers(const LabelledTargets& targets, std::span<const std::vector<float>> logits,
                 ValidationRecord& record) {
  std::vector<double> expected, predicted;
  for (size_t i = 0; i < targets.texts.size(); ++i) {
    expected.push_back(static_cast<double>(targets.texts[i].values.front()));
    predicted.push_back(static_cast<double>(logits[i].front()));
  }
  add_correlations(expected, predicted, record);
  if (!targets.probabilities) return;
  std::vector<uint8_t> relevant;
  std::vector<int32_t> classes, decided;
  for (size_t i = 0; i < expected.size(); ++i) {
    relevant.push_back(expected[i] > 0.5 ? 1 : 0);
    classes.push_back(relevant.back());
    decided.push_back(predicted[i] > 0 ? 1 : 0);
  }
  record.metrics["accuracy"] = metrics::classification_scores(classes, decided).accuracy;
  record.metrics["average_precision"] = metrics::average_precision(relevant, predicted);
  record.best_by = "average_precision";
  add_rankings(targets, logits, record);
}

std::string text_of_spans(std::span<const int32_t> labels, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const auto& [kind, begin, end] : spans_of(labels, names))
    parts.push_back(fmt::format("{} {}-{}", kind, begin, end));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string text_of_numbers(std::span<const float> numbers) {
  return fmt::format("{:.4g}", fmt::join(numbers, ", "));
}

template <typename IsGiven>
std::string text_of_several(const std::vector<std::string>& names, const IsGiven& is_given) {
  std::vector<std::string> given;
  for (size_t i = 0; i < names.size(); ++i)
    if (is_given(i)) given.push_back(names[i]);
  return fmt::format("{}", fmt::join(given, ", "));
}

}  // namespace

void add_label_scores(const LabelledTargets& targets, std::span<const std::vector<float>> logits,
                      ValidationRecord& record) {
  if (targets.loss == data::LabelLoss::cross_entropy)
    add_classes(targets, logits, record);
  else if (targets.loss == data::LabelLoss::margin_mse)
    add_margins(targets, logits, record);
  else if (targets.loss == data::LabelLoss::squared_error || targets.probabilities)
    add_numbers(targets, logits, record);
  else
    add_several(targets, logits, record);
}

std::string predicted_text(const LabelledTargets& targets, std::span<const float> logits) {
  if (targets.loss == data::LabelLoss::margin_mse) {
    std::vector<float> margins;
    for (const float other : logits.subspan(1)) margins.push_back(logits.front() - other);
    return text_of_numbers(margins);
  }
  if (targets.loss == data::LabelLoss::squared_error) return fmt::format("{:.4g}", logits.front());
  if (targets.probabilities)
    return fmt::format("{:.4g}", 1 / (1 + std::exp(-static_cast<double>(logits.front()))));
  if (targets.loss == data::LabelLoss::binary_cross_entropy)
    return text_of_several(targets.names, [&](size_t i) { return logits[i] > 0; });
  const std::vector<int32_t> labels = largest_of(logits, targets.names.size());
  return targets.of_tokens ? text_of_spans(labels, targets.names)
                           : targets.names[static_cast<size_t>(labels.front())];
}

std::string target_text(const LabelledTargets& targets, const data::LabelledText& text) {
  if (targets.loss == data::LabelLoss::margin_mse) return text_of_numbers(text.values);
  if (targets.loss == data::LabelLoss::squared_error || targets.probabilities)
    return fmt::format("{:.4g}", text.values.front());
  if (targets.loss == data::LabelLoss::binary_cross_entropy)
    return text_of_several(targets.names, [&](size_t i) { return text.values[i] > 0.5f; });
  return targets.of_tokens ? text_of_spans(text.classes, targets.names)
                           : targets.names[static_cast<size_t>(text.classes.front())];
}

}  // namespace heed::train
