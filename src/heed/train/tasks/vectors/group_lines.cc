#include "heed/train/tasks/vectors/group_lines.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/train/tasks/labels/records.h"

namespace heed::train {
namespace {

using data::VectorLoss;

bool has_two_texts(VectorLoss loss) {
  return loss == VectorLoss::cosine || loss == VectorLoss::cosent;
}

ColumnNames group_columns(VectorLoss loss) {
  ColumnNames columns{.known = {"query", "anchor", "document", "positive", "negative", "text",
                                "text_pair", "sentence1", "sentence2", "score", "label"},
                      .without_header = {}};
  if (has_two_texts(loss)) columns.without_header = {{"text", "text_pair", "score"}};
  if (loss == VectorLoss::infonce) columns.without_header = {{"query", "document"}};
  if (loss == VectorLoss::infonce || loss == VectorLoss::triplet)
    columns.without_header.push_back({"query", "document", "negative"});
  if (loss == VectorLoss::margin_mse)
    columns.without_header.push_back({"query", "document", "negative", "score"});
  return columns;
}

/// The negatives of a line: a text, or a list of texts.
std::vector<std::string> negatives_of(const nlohmann::json& record, const std::string& where) {
  const nlohmann::json* const list = find_field(record, {"negatives"});
  std::vector<std::string> negatives;
  if (find_field(record, {"negative"}) != nullptr)
    negatives.push_back(text_field(record, {"negative"}, where));
  if (list == nullptr) return negatives;
  require(list->is_array(), "{}: negatives is {}, expected a list of strings", where,
          excerpt(*list));
  for (const nlohmann::json& negative : *list)
    negatives.push_back(text_field({{"negatives", negative}}, {"negatives"}, where));
  return negatives;
}

/// A number, or a list of them.
std::vector<float> numbers_of(const nlohmann::json& record,
                              std::initializer_list<std::string_view> names,
                              const std::string& where) {
  const nlohmann::json* const value = find_field(record, names);
  require(value != nullptr, "{}: {} is missing", where, *names.begin());
  if (!value->is_array()) return {static_cast<float>(number_of(*value, *names.begin(), where))};
  std::vector<float> numbers;
  for (const nlohmann::json& one : *value)
    numbers.push_back(static_cast<float>(number_of(one, *names.begin(), where)));
  return numbers;
}

GroupLine group_line(const nlohmann::json& record, VectorLoss loss, const std::string& where) {
  GroupLine line{.where = where, .texts = {}};
  if (loss == VectorLoss::distill) {
    line.texts = {text_field(record, {"text", "query", "sentence"}, where)};
    line.scores = numbers_of(record, {"vector"}, where);
    return line;
  }
  if (has_two_texts(loss)) {
    line.texts = {text_field(record, {"text", "sentence1", "query"}, where),
                  text_field(record, {"text_pair", "sentence2", "document"}, where)};
    line.scores = {numbers_of(record, {"score", "label"}, where).front()};
    return line;
  }
  line.texts = {text_field(record, {"query", "anchor", "text", "sentence1"}, where),
                text_field(record, {"document", "positive", "text_pair", "sentence2"}, where)};
  for (std::string& negative : negatives_of(record, where))
    line.texts.push_back(std::move(negative));
  const size_t negatives = line.texts.size() - 2;
  require(loss == VectorLoss::infonce || negatives > 0, "{}: negative is missing", where);
  if (loss != VectorLoss::margin_mse) return line;
  line.scores = numbers_of(record, {"score", "scores", "label"}, where);
  require(line.scores.size() == negatives,
          "{}: there are {} scores, expected one for each of {} negatives", where,
          line.scores.size(), negatives);
  return line;
}

}  // namespace

GroupLines read_group_lines(const std::filesystem::path& path, const EmbedConfig& config) {
  GroupLines read;
  for_each_record(path, group_columns(config.loss),
                  [&](const nlohmann::json& record, const std::string& where) {
                    read.lines.push_back(group_line(record, config.loss, where));
                    const size_t scores = read.lines.front().scores.size();
                    require(read.lines.back().scores.size() == scores,
                            "{}: there are {} numbers, and {} in the first line", where,
                            read.lines.back().scores.size(), scores);
                    ++read.fingerprint.count;
                    read.fingerprint.hash = data::hash_after(read.fingerprint.hash, record.dump());
                  });
  return read;
}

}  // namespace heed::train
