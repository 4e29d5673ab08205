#include "heed/train/tasks/labels/labelled_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/train/tasks/labels/records.h"

namespace heed::train {
namespace {

using Record = nlohmann::json;

bool is_margin(const TrainConfig& config) {
  return config.run.task == TaskKind::rerank && config.rerank.loss == RerankLoss::margin_mse;
}

ColumnNames columns_of(const TrainConfig& config) {
  const TaskKind task = config.run.task;
  ColumnNames columns{.known = {"text", "text_pair", "sentence", "sentence1", "sentence2", "query",
                                "document", "label", "labels", "score"},
                      .without_header = {}};
  const std::string_view last = task == TaskKind::classify ? "label" : "score";
  if (task != TaskKind::rerank) columns.without_header.push_back({"text", last});
  if (is_margin(config)) {
    columns.known.push_back("negative");
    columns.without_header = {{"query", "document", "negative", "score"}};
    return columns;
  }
  columns.without_header.push_back({"text", "text_pair", last});
  return columns;
}

/// A label is a name; a number is one by its digits.
std::string label_of(const Record& value, const std::string& where) {
  if (value.is_number_integer()) return value.dump();
  require(value.is_string() && !value.get_ref<const std::string&>().empty(),
          "{}: a label is {}, expected a name", where, excerpt(value));
  return value.get<std::string>();
}

std::vector<std::string> labels_of(const Record& record, bool several, const std::string& where) {
  const Record* const list = find_field(record, {"labels"});
  const Record* const one = find_field(record, {"label"});
  require(list != nullptr || one != nullptr, "{}: label is missing", where);
  std::vector<std::string> labels;
  if (list != nullptr && list->is_array()) {
    for (const Record& label : *list) labels.push_back(label_of(label, where));
    require(several || labels.size() == 1,
            "{}: there are {} labels, expected one (classify.multi_label allows others)", where,
            labels.size());
    return labels;
  }
  return {label_of(list != nullptr ? *list : *one, where)};
}

int64_t characters_of(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

/// {"start", "end", "label"} or [start, end, label].
LabelledSpan span_of(const Record& value, int64_t length, const std::string& where) {
  const bool list = value.is_array() && value.size() == 3;
  require(list || value.is_object(), "{}: a span is {}, expected start, end and label", where,
          excerpt(value));
  const auto field = [&](const char* name, size_t place) {
    const Record* const found = list ? &value[place] : find_field(value, {name});
    require(found != nullptr, "{}: {} of a span is missing", where, name);
    return found;
  };
  const LabelledSpan span{integer_of(*field("start", 0), "start of a span", where, 0, length),
                          integer_of(*field("end", 1), "end of a span", where, 0, length),
                          label_of(*field("label", 2), where)};
  require(span.start < span.end, "{}: a span begins at {} and ends at {}", where, span.start,
          span.end);
  return span;
}

std::vector<LabelledSpan> spans_of(const Record& record, const std::string& text,
                                   const std::string& where) {
  const Record* const list = find_field(record, {"spans"});
  require(list != nullptr && list->is_array(), "{}: spans are missing, expected a list", where);
  std::vector<LabelledSpan> spans;
  for (const Record& value : *list) spans.push_back(span_of(value, characters_of(text), where));
  std::ranges::sort(spans, {}, &LabelledSpan::start);
  for (size_t i = 1; i < spans.size(); ++i)
    require(spans[i - 1].end <= spans[i].start, "{}: the spans {} to {} and {} to {} overlap",
            where, spans[i - 1].start, spans[i - 1].end, spans[i].start, spans[i].end);
  return spans;
}

double score_of(const Record& record, const TrainConfig& config, const std::string& where) {
  const Record* const value = find_field(record, {"score", "label"});
  require(value != nullptr, "{}: score is missing", where);
  const double score = number_of(*value, "score", where);
  const bool probability =
      config.run.task == TaskKind::rerank && config.rerank.loss == RerankLoss::binary_cross_entropy;
  require(!probability || (score >= 0 && score <= 1),
          "{}: score is {}, expected 0 to 1 (rerank.loss squared-error takes any number)", where,
          score);
  return score;
}

LabelledLine line_of(const Record& record, const TrainConfig& config, const std::string& where) {
  const TaskKind task = config.run.task;
  // Errors name the first.
  using Names = std::initializer_list<std::string_view>;
  const bool reranks = task == TaskKind::rerank;
  const Names first = {"text", "sentence", "sentence1", "query"},
              second = {"text_pair", "sentence2", "document"},
              query = {"query", "text", "sentence", "sentence1"},
              document = {"document", "text_pair", "sentence2"};
  LabelledLine line{.where = where, .text = text_field(record, reranks ? query : first, where)};
  if (reranks || find_field(record, second) != nullptr) {
    require(task != TaskKind::tag, "{}: there is a second text, the task tag reads one", where);
    line.pair = text_field(record, reranks ? document : second, where);
  }
  if (is_margin(config)) {
    line.negatives = negatives_of(record, where);
    require(!line.negatives.empty(), "{}: negative is missing", where);
    line.margins = margins_field(record, line.negatives.size(), where);
  } else if (task == TaskKind::classify) {
    line.labels = labels_of(record, config.classify.multi_label, where);
  } else if (task == TaskKind::tag) {
    line.spans = spans_of(record, line.text, where);
  } else {
    line.score = score_of(record, config, where);
  }
  return line;
}

}  // namespace

LabelledLines read_labelled_lines(const std::filesystem::path& path, const TrainConfig& config) {
  require(config.run.task != TaskKind::tag || path.extension() != ".tsv",
          "{}: the task tag reads JSON lines", path.string());
  LabelledLines read;
  for_each_record(path, columns_of(config), [&](const Record& record, const std::string& where) {
    read.lines.push_back(line_of(record, config, where));
    ++read.fingerprint.count;
    read.fingerprint.hash = data::hash_after(read.fingerprint.hash, record.dump());
  });
  return read;
}

}  // namespace heed::train
