#include "heed/train/tasks/labels/records.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/parse_number.h"
#include "heed/base/text_lines.h"

namespace heed::train {
namespace {

/// Lines of columns.
class TsvReader {
 public:
  explicit TsvReader(const ColumnNames& columns) : columns_(columns) {}

  /// None for a line with the names of the columns.
  std::optional<nlohmann::json> read(std::string_view line, const std::string& where) {
    const std::vector<std::string_view> cells = split_at(line, "\t");
    if (names_.empty() && take_names(cells, where)) return std::nullopt;
    require(cells.size() == names_.size(), "{}: there are {} columns, expected {}: {}", where,
            cells.size(), names_.size(), fmt::join(names_, ", "));
    nlohmann::json record;
    for (size_t i = 0; i < cells.size(); ++i) record[names_[i]] = cells[i];
    return record;
  }

 private:
  /// Takes the names of the columns from the first line, if it has some, else from their number.
  bool take_names(const std::vector<std::string_view>& cells, const std::string& where) {
    const bool header = std::ranges::all_of(cells, [&](std::string_view cell) {
      return std::ranges::find(columns_.known, cell) != columns_.known.end();
    });
    if (header) {
      names_.assign(cells.begin(), cells.end());
      return true;
    }
    for (const auto& names : columns_.without_header)
      if (names.size() == cells.size()) names_.assign(names.begin(), names.end());
    std::vector<std::string> usual;
    for (const auto& names : columns_.without_header)
      usual.push_back(fmt::format("{}", fmt::join(names, ", ")));
    require(!names_.empty(), "{}: there are {} columns, expected {}, or a first line of names",
            where, cells.size(), fmt::join(usual, "; or "));
    return false;
  }

  const ColumnNames& columns_;
  std::vector<std::string> names_;
};

nlohmann::json json_record(std::string_view line, const std::string& where) {
  require(line[line.find_first_not_of(" \t")] == '{',
          "{}: expected a JSON object (a file of columns is named .tsv)", where);
  return parse_json(line, where);
}

}  // namespace

void for_each_record(
    const std::filesystem::path& path, const ColumnNames& columns,
    const std::function<void(const nlohmann::json& record, const std::string& where)>& visit) {
  require(!std::filesystem::is_directory(path), "{} is a folder, expected a file of examples",
          path.string());
  const bool tsv = path.extension() == ".tsv";
  TsvReader reader(columns);
  bool any = false;
  for_each_line(path, [&](std::string_view line, size_t number) {
    if (is_blank(line)) return;
    const std::string where = fmt::format("{}, line {}", path.string(), number);
    const std::optional<nlohmann::json> record =
        tsv ? reader.read(line, where) : json_record(line, where);
    if (!record) return;
    visit(*record, where);
    any = true;
  });
  require(any, "{} contains no examples", path.string());
}

const nlohmann::json* find_field(const nlohmann::json& record,
                                 std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const auto found = record.find(name); found != record.end() && !found->is_null())
      return &*found;
  return nullptr;
}

std::string text_field(const nlohmann::json& record, std::initializer_list<std::string_view> names,
                       const std::string& where) {
  const nlohmann::json* const value = find_field(record, names);
  require(value != nullptr, "{}: {} is missing", where, *names.begin());
  require(value->is_string(), "{}: {} is {}, expected a string", where, *names.begin(),
          excerpt(*value));
  auto text = value->get<std::string>();
  require(!is_blank(text), "{}: {} is empty", where, *names.begin());
  return text;
}

double number_of(const nlohmann::json& value, std::string_view name, const std::string& where) {
  const std::optional<double> number =
      value.is_number()   ? std::optional(value.get<double>())
      : value.is_string() ? parse_number<double>(value.get_ref<const std::string&>())
                          : std::nullopt;
  require(number && std::isfinite(static_cast<float>(*number)), "{}: {} is {}, expected a number",
          where, name, excerpt(value));
  return *number;
}

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

std::vector<float> numbers_field(const nlohmann::json& record,
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

std::vector<float> margins_field(const nlohmann::json& record, size_t negatives,
                                 const std::string& where) {
  std::vector<float> scores = numbers_field(record, {"score", "scores", "label"}, where);
  if (scores.size() == negatives) return scores;
  require(scores.size() == negatives + 1,
          "{}: there are {} scores, expected one for each of {} negatives, or also one for the "
          "document",
          where, scores.size(), negatives);
  std::vector<float> margins;
  for (size_t n = 1; n < scores.size(); ++n) margins.push_back(scores[0] - scores[n]);
  return margins;
}

}  // namespace heed::train
