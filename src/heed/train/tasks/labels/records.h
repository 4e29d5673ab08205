#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heed::train {

/// The columns that lines of a .tsv file have unless its first line names them.
struct ColumnNames {
  std::vector<std::string_view> known;                        // that a first line may name
  std::vector<std::vector<std::string_view>> without_header;  // of each number of columns
};

/// Calls visit(record, where) for each line of a file that is not blank, in order: an object of a
/// JSON line, or of a .tsv file an object with the texts of the columns; `where` is "FILE, line N".
/// Throws Error, naming the line, on one that is no object or has other columns, when the file
/// cannot be read, and when it has no line.
void for_each_record(
    const std::filesystem::path& path, const ColumnNames& columns,
    const std::function<void(const nlohmann::json& record, const std::string& where)>& visit);

/// The value of the first of `names` that the record has; null: it has none of them.
const nlohmann::json* find_field(const nlohmann::json& record,
                                 std::initializer_list<std::string_view> names);

/// The text of the first of `names`. Throws Error when there is none, and when it is no string or
/// blank.
std::string text_field(const nlohmann::json& record, std::initializer_list<std::string_view> names,
                       const std::string& where);

/// The negatives of a query: "negative", a text, and "negatives", a list of texts; empty: none.
std::vector<std::string> negatives_of(const nlohmann::json& record, const std::string& where);

/// The numbers of the first of `names`: one, or a list of them. Throws Error as text_field() and
/// number_of() do.
std::vector<float> numbers_field(const nlohmann::json& record,
                                 std::initializer_list<std::string_view> names,
                                 const std::string& where);

/// By how much a teacher's score of a query's document is above that of each of its negatives:
/// "score", the differences, or the scores of the document and each negative. Throws Error, too,
/// when there is another number of them.
std::vector<float> margins_field(const nlohmann::json& record, size_t negatives,
                                 const std::string& where);

/// A number, which a .tsv file has as text. Throws Error unless it is a finite number that fits
/// f32.
double number_of(const nlohmann::json& value, std::string_view name, const std::string& where);

}  // namespace heed::train
