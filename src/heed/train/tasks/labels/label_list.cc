#include "heed/train/tasks/labels/label_list.h"

#include <algorithm>
#include <optional>
#include <set>

#include "heed/base/error.h"
#include "heed/base/parse_number.h"
#include "heed/base/quote.h"

namespace heed::train {
namespace {

constexpr size_t kMaxLabels = size_t{1} << 20;

/// Numbers by their value, then other names by their bytes.
bool comes_before(const std::string& a, const std::string& b) {
  const auto x = parse_number<int64_t>(a), y = parse_number<int64_t>(b);
  if (x && y && *x != *y) return *x < *y;
  return x.has_value() != y.has_value() ? x.has_value() : a < b;
}

/// All labels that occur, in order.
std::vector<std::string> occurring(const std::vector<LabelledLine>& lines) {
  std::set<std::string> found;
  for (const LabelledLine& line : lines) {
    found.insert(line.labels.begin(), line.labels.end());
    for (const LabelledSpan& span : line.spans) found.insert(span.label);
  }
  std::vector<std::string> labels(found.begin(), found.end());
  std::ranges::sort(labels, comes_before);
  return labels;
}

/// The labels of tokens for kinds of spans (Ramshaw and Marcus 1995).
std::vector<std::string> bio_of(const std::vector<std::string>& kinds) {
  std::vector<std::string> labels{"O"};
  for (const std::string& kind : kinds) {
    labels.push_back("B-" + kind);
    labels.push_back("I-" + kind);
  }
  return labels;
}

std::optional<int32_t> find_label(std::span<const std::string> names, const std::string& label) {
  const auto found = std::ranges::find(names, label);
  if (found != names.end()) return static_cast<int32_t>(found - names.begin());
  const auto number = parse_number<int32_t>(label);
  return number && *number >= 0 && *number < std::ssize(names) ? number : std::nullopt;
}

void require_distinct(const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    require(!names[i].empty(), "a label of classify.labels is empty");
    require(std::ranges::find(names.begin(), names.begin() + static_cast<int64_t>(i), names[i]) ==
                names.begin() + static_cast<int64_t>(i),
            "classify.labels has {} twice", quoted(names[i]));
  }
}

}  // namespace

std::vector<std::string> label_names(const TrainConfig& config,
                                     const std::vector<LabelledLine>& lines,
                                     const model::ClassifierConfig& known) {
  const TaskKind task = config.run.task;
  if (task == TaskKind::score || task == TaskKind::rerank) return {"LABEL_0"};
  const bool tag = task == TaskKind::tag;
  const std::vector<std::string> own = occurring(lines);
  require(!own.empty(), "{}: no line has a {}", config.data.text, tag ? "span" : "label");
  require(tag || config.classify.multi_label || own.size() > 1,
          "{}: all {} texts have the label {}, so there is nothing to tell apart", config.data.text,
          lines.size(), quoted(own.front()));
  require(own.size() <= kMaxLabels, "{}: there are {} labels, expected at most {}",
          config.data.text, own.size(), kMaxLabels);
  require_distinct(config.classify.labels);
  const auto whole = [&](const std::vector<std::string>& kinds) {
    return tag ? bio_of(kinds) : kinds;
  };
  if (!config.classify.labels.empty()) return whole(config.classify.labels);
  const bool fit = known.kind == (tag ? model::ClassifierConfig::Kind::token
                                      : model::ClassifierConfig::Kind::sequence) &&
                   std::ranges::all_of(whole(own), [&](const std::string& label) {
                     return find_label(known.labels, label).has_value();
                   });
  return fit ? known.labels : whole(own);
}

int32_t label_number(std::span<const std::string> names, const std::string& label,
                     const std::string& where) {
  const auto number = find_label(names, label);
  constexpr size_t kShown = 20;
  require(number.has_value(), "{}: the label {} is not among {}{}", where, quoted(label),
          fmt::join(names.first(std::min(kShown, names.size())), ", "),
          names.size() > kShown ? ", ..." : "");
  return *number;
}

std::vector<float> label_weights(const ClassifyConfig& config, std::span<const std::string> names,
                                 std::span<const data::LabelledText> texts) {
  if (!config.class_weights.empty()) {
    require(config.class_weights.size() == names.size(),
            "classify.class_weights has {} numbers, expected one for each of {} labels: {}",
            config.class_weights.size(), names.size(), fmt::join(names, ", "));
    return {config.class_weights.begin(), config.class_weights.end()};
  }
  if (!config.balance) return {};
  std::vector<int64_t> counts(names.size());
  int64_t all = 0;
  for (const data::LabelledText& text : texts) {
    for (const int32_t label : text.classes) ++counts[static_cast<size_t>(label)];
    for (size_t label = 0; label < text.values.size(); ++label)
      counts[label] += text.values[label] > 0 ? 1 : 0;
    all += config.multi_label ? 1 : std::ssize(text.classes);
  }
  std::vector<float> weights;
  for (size_t label = 0; label < names.size(); ++label) {
    require(counts[label] > 0, "classify.balance: no training text has the label {}",
            quoted(names[label]));
    const auto own = static_cast<double>(counts[label]), total = static_cast<double>(all);
    weights.push_back(static_cast<float>(config.multi_label
                                             ? (total - own) / own
                                             : total / (static_cast<double>(names.size()) * own)));
  }
  return weights;
}

}  // namespace heed::train
