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

GroupLine group_line(const nlohmann::json& record, VectorLoss loss, const std::string& where) {
  GroupLine line{.where = where, .texts = {}};
  if (loss == VectorLoss::distill) {
    line.texts = {text_field(record, {"text", "query", "sentence"}, where)};
    line.scores = numbers_field(record, {"vector"}, where);
    return line;
  }
  if (has_two_texts(loss)) {
    line.texts = {text_field(record, {"text", "sentence1", "query"}, where),
                  text_field(record, {"text_pair", "sentence2", "document"}, where)};
    const nlohmann::json* const score = find_field(record, {"score", "label"});
    require(score != nullptr, "{}: score is missing", where);
    line.scores = {static_cast<float>(number_of(*score, "score", where))};
    return line;
  }
  line.texts = {text_field(record, {"query", "anchor", "text", "sentence1"}, where),
                text_field(record, {"document", "positive", "text_pair", "sentence2"}, where)};
  for (std::string& negative : negatives_of(record, where))
    line.texts.push_back(std::move(negative));
  const size_t negatives = line.texts.size() - 2;
  require(loss == VectorLoss::infonce || negatives > 0, "{}: negative is missing", where);
  if (loss == VectorLoss::margin_mse) line.scores = margins_field(record, negatives, where);
  if (loss != VectorLoss::kl_divergence) return line;
  line.scores = numbers_field(record, {"score", "scores", "label"}, where);
  require(line.scores.size() == negatives + 1,
          "{}: there are {} scores, expected one for the document and one for each of {} negatives",
          where, line.scores.size(), negatives);
  return line;
}

}  // namespace

GroupLines read_group_lines(const std::filesystem::path& path, const EmbedConfig& config) {
  const bool lists = config.loss == VectorLoss::kl_divergence || config.loss == VectorLoss::distill;
  require(!lists || path.extension() != ".tsv",
          "{}: the loss {} reads JSON lines, which have lists of numbers", path.string(),
          name_of(config.loss));
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
