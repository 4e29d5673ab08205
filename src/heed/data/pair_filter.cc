#include "heed/data/pair_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace heed::data {

std::string_view name_of(Drop reason) {
  switch (reason) {
    case Drop::empty:
      return "empty";
    case Drop::too_long:
      return "too long";
    case Drop::length_ratio:
      return "by length ratio";
    case Drop::copied:
      return "copied";
    case Drop::duplicate:
      return "duplicate";
    case Drop::mojibake:
      return "in a wrong encoding";
    case Drop::language:
      return "in another language";
    case Drop::alignment:
      return "badly aligned";
  }
  return "?";
}

std::optional<Drop> length_problem(const Example& example, const LengthLimits& limits) {
  const auto [shorter, longer] = std::minmax(
      {static_cast<int64_t>(example.source.size()), static_cast<int64_t>(example.target.size())});
  if (shorter <= 1) return Drop::empty;
  if (longer > limits.max_tokens) return Drop::too_long;
  if (static_cast<double>(longer - limits.slack) > limits.max_ratio * static_cast<double>(shorter))
    return Drop::length_ratio;
  return std::nullopt;
}

void FilterReport::add(std::optional<Drop> reason, int64_t line, const SentencePair& pair) {
  if (!reason) {
    ++kept_;
    return;
  }
  Dropped& dropped = dropped_[static_cast<size_t>(*reason)];
  ++dropped.count;
  if (dropped.examples.size() < kExamples) dropped.examples.push_back({line, pair});
}

void FilterReport::add_counts(const FilterReport& other) {
  kept_ += other.kept_;
  for (size_t i = 0; i < dropped_.size(); ++i) dropped_[i].count += other.dropped_[i].count;
}

FilterReport FilterReport::total(std::span<const FilterReport> reports) {
  FilterReport all;
  for (const FilterReport& report : reports) all.add_counts(report);
  return all;
}

int64_t FilterReport::total() const {
  int64_t total = kept_;
  for (const Dropped& dropped : dropped_) total += dropped.count;
  return total;
}

std::string FilterReport::text() const {
  std::string line = fmt::format("{} of {} pairs kept", kept_, total());
  const char* separator = "; dropped: ";
  for (const Drop reason : kDrops) {
    if (dropped(reason) == 0) continue;
    line += fmt::format("{}{} {}", separator, dropped(reason), name_of(reason));
    separator = ", ";
  }
  return line;
}

nlohmann::ordered_json FilterReport::json() const {
  nlohmann::ordered_json reasons = nlohmann::ordered_json::object();
  for (const Drop reason : kDrops) {
    if (dropped(reason) == 0) continue;
    nlohmann::ordered_json examples = nlohmann::ordered_json::array();
    for (const auto& [line, pair] : dropped_[static_cast<size_t>(reason)].examples)
      examples.push_back({{"line", line}, {"source", pair.source}, {"target", pair.target}});
    reasons[std::string(name_of(reason))] = {{"count", dropped(reason)},
                                             {"examples", std::move(examples)}};
  }
  return {{"pairs", total()}, {"kept", kept_}, {"dropped", std::move(reasons)}};
}

}  // namespace heed::data
