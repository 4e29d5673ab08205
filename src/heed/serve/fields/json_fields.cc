#include "heed/serve/fields/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/json_nesting.h"
#include "heed/base/quote.h"
#include "heed/base/spelling.h"
#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

/// A value takes some 40 bytes beside its text, so a body of 4 MB could take a hundred.
constexpr int64_t kMaxValues = 300'000;

[[noreturn]] void fail_type(const std::string& name, std::string_view expected, const Json& found) {
  throw invalid_request(
      name, fmt::format("{} is {}, expected {}", name, excerpt(nlohmann::json(found)), expected));
}

int64_t count_values(std::string_view text) {
  JsonNesting nesting;
  int64_t values = 1;
  for (const char c : text) {
    nesting.advance(c);
    if (!nesting.inside_string && (c == ',' || c == '[' || c == '{')) ++values;
  }
  return values;
}

}  // namespace

Json parse_body(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == body.npos)
    throw invalid_request("", "the body is empty, expected a JSON object");
  if (const int64_t values = count_values(body); values > kMaxValues)
    throw invalid_request(
        "", fmt::format("the body has {} JSON values, expected at most {}", values, kMaxValues));
  Json json = blame_input([&] { return parse_ordered_json(body, "the body"); });
  if (!json.is_object()) fail_type("the body", "a JSON object", json);
  return json;
}

JsonFields::JsonFields(const Json& object, std::string path, OnIgnored on_ignored)
    : object_(object), path_(std::move(path)), on_ignored_(std::move(on_ignored)) {
  if (!object.is_object()) fail_type(path_, "an object", object);
}

std::string JsonFields::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

const Json* JsonFields::find(std::string_view name) {
  known_.emplace(name);
  const auto found = object_.find(std::string(name));
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const Json& JsonFields::require(std::string_view name) {
  if (const Json* found = find(name)) return *found;
  const std::string path = path_of(name);
  throw invalid_request(path, fmt::format("{} is missing", path));
}

std::optional<std::string> JsonFields::text(std::string_view name) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_string()) fail_type(path_of(name), "a string", *value);
  return value->get<std::string>();
}

std::string JsonFields::required_text(std::string_view name) {
  require(name);
  return *text(name);
}

std::optional<bool> JsonFields::boolean(std::string_view name) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_boolean()) fail_type(path_of(name), "true or false", *value);
  return value->get<bool>();
}

std::optional<int64_t> whole_number(const Json& value) {
  constexpr double kExact = 1ll << 53;  // beyond it a double stands for several integers
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return std::nullopt;
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  const bool whole = std::abs(number) <= kExact && std::trunc(number) == number;
  return whole ? std::optional(static_cast<int64_t>(number)) : std::nullopt;
}

std::optional<int64_t> JsonFields::integer(std::string_view name, int64_t min, int64_t max) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  const std::optional<int64_t> number = whole_number(*value);
  if (!number || *number < min || *number > max)
    fail_type(path_of(name), fmt::format("an integer from {} to {}", min, max), *value);
  return number;
}

std::optional<double> JsonFields::number(std::string_view name, double min, double max) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= min && number <= max))
    fail_type(path_of(name), fmt::format("a number from {} to {}", min, max), *value);
  return number;
}

std::optional<std::vector<std::string>> JsonFields::texts(std::string_view name) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (value->is_string()) return std::vector{value->get<std::string>()};
  std::vector<std::string> texts;
  if (!value->is_array()) fail_type(path_of(name), "a string or a list of strings", *value);
  for (size_t i = 0; i < value->size(); ++i) {
    if (!(*value)[i].is_string())
      fail_type(fmt::format("{}[{}]", path_of(name), i), "a string", (*value)[i]);
    texts.push_back((*value)[i].get<std::string>());
  }
  return texts;
}

std::string JsonFields::one_of(std::string_view name, std::initializer_list<const char*> values) {
  const std::optional<std::string> value = text(name);
  if (!value) return *values.begin();
  for (const char* candidate : values)
    if (*value == candidate) return *value;
  fail_name(name, {values.begin(), values.end()});
}

void JsonFields::fail_name(std::string_view name, const std::vector<std::string_view>& names) {
  fail_type(path_of(name), fmt::format("one of {}", fmt::join(names, ", ")), *find(name));
}

void JsonFields::ignore(std::initializer_list<const char*> names) {
  known_.insert(names.begin(), names.end());
}

void JsonFields::report_ignored(std::string_view name) const {
  const std::string path = path_of(name);
  if (!on_ignored_) throw invalid_request(path, fmt::format("{} has no effect here", path));
  on_ignored_(path);
}

void JsonFields::only(std::string_view name, const Json& value) {
  const Json* found = find(name);
  if (!found || *found == value) return;
  const std::string path = path_of(name);
  throw invalid_request(
      path, fmt::format("{} is {}, heed offers {} only", path, excerpt(nlohmann::json(*found)),
                        excerpt(nlohmann::json(value))));
}

void JsonFields::end() const {
  for (const auto& [name, value] : object_.items()) {
    if (known_.contains(name)) continue;
    const std::string path = path_of(one_line(name));
    const std::string similar = similar_word(name, known_);
    if (on_ignored_ && similar.empty()) {
      if (!value.is_null()) on_ignored_(path);
      continue;
    }
    throw invalid_request(
        path, similar.empty()
                  ? fmt::format("{} is not a known field", path)
                  : fmt::format("{} is not a known field; did you mean {}?", path, similar));
  }
}

}  // namespace heed::serve
