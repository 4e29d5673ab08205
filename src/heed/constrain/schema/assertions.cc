#include "heed/constrain/schema/assertions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/constrain/schema/keywords.h"

namespace heed::constrain {

bool AssertionReader::read(std::string_view keyword, JsonId value) {
  static const std::map<std::string_view, std::pair<Draft, Handler>> kHandlers = {
      {"type", {Draft::k4, &AssertionReader::type}},
      {"enum", {Draft::k4, &AssertionReader::enumeration}},
      {"const", {Draft::k6, &AssertionReader::constant}},
      {"multipleOf", {Draft::k4, &AssertionReader::multiple_of}},
      {"minimum", {Draft::k4, &AssertionReader::bound}},
      {"maximum", {Draft::k4, &AssertionReader::bound}},
      {"exclusiveMinimum", {Draft::k4, &AssertionReader::bound}},
      {"exclusiveMaximum", {Draft::k4, &AssertionReader::bound}},
      {"minLength", {Draft::k4, &AssertionReader::length}},
      {"maxLength", {Draft::k4, &AssertionReader::length}},
      {"pattern", {Draft::k4, &AssertionReader::pattern}},
      {"format", {Draft::k4, &AssertionReader::format}},
      {"properties", {Draft::k4, &AssertionReader::properties}},
      {"patternProperties", {Draft::k4, &AssertionReader::pattern_properties}},
      {"additionalProperties", {Draft::k4, &AssertionReader::additional_properties}},
      {"propertyNames", {Draft::k6, &AssertionReader::property_names}},
      {"required", {Draft::k4, &AssertionReader::required}},
      {"minProperties", {Draft::k4, &AssertionReader::object_size}},
      {"maxProperties", {Draft::k4, &AssertionReader::object_size}},
      {"items", {Draft::k4, &AssertionReader::items}},
      {"prefixItems", {Draft::k2020, &AssertionReader::prefix_items}},
      {"additionalItems", {Draft::k4, &AssertionReader::additional_items}},
      {"contains", {Draft::k6, &AssertionReader::contains}},
      {"minContains", {Draft::k2019, &AssertionReader::nothing_alone}},
      {"maxContains", {Draft::k2019, &AssertionReader::nothing_alone}},
      {"minItems", {Draft::k4, &AssertionReader::array_size}},
      {"maxItems", {Draft::k4, &AssertionReader::array_size}},
      {"uniqueItems", {Draft::k4, &AssertionReader::unique_items}}};
  const auto found = kHandlers.find(keyword);
  if (found == kHandlers.end() || draft_ < found->second.first) return false;
  keyword_ = keyword;
  (this->*found->second.second)(value);
  return true;
}

uint64_t AssertionReader::count(JsonId value) const {
  const JsonNode& node = document_[value];
  if (node.is_number()) {
    const Decimal number = Decimal::parse(node.text);
    if (number.is_integer() && !number.negative) {
      const std::string digits = number.integer_part();
      return digits.size() > 9 ? kNoLimit - 1 : std::stoull(digits);
    }
  }
  refuse(value, "it is not a non-negative integer");
}

std::optional<uint64_t> AssertionReader::sibling_count(std::string_view keyword) const {
  const JsonId value = document_.find(schema_, keyword);
  if (value == kNoJson) return std::nullopt;
  return count(value);
}

Decimal AssertionReader::number(JsonId value) const {
  const JsonNode& node = document_[value];
  if (!node.is_number()) refuse(value, "it is not a number");
  return Decimal::parse(node.text);
}

ExpressionId AssertionReader::matching(const std::string& pattern, JsonId value) {
  try {
    return algebra_.text().matching(pattern);
  } catch (const Error& error) {
    refuse(value, error.what());
  }
}

ExpressionId AssertionReader::of_format(const std::string& pattern, JsonId value) {
  try {
    return algebra_.text().of_pattern(pattern);
  } catch (const Error& error) {
    refuse(value, error.what());
  }
}

void AssertionReader::restrict_strings(ExpressionId strings) {
  for (ExpressionId* own : {&set_.strings, &set_.possible_strings}) {
    *own = algebra_.text().intersect(*own, strings);
  }
}

void AssertionReader::check_sizes(uint64_t min, uint64_t max, JsonId value) {
  if (min > max) algebra_.note_contradiction(keyword_, value, "leaves no size between min and max");
}

void AssertionReader::type(JsonId value) {
  std::vector<std::string> names;
  if (document_[value].is_string()) {
    names = {document_[value].text};
  } else {
    names = read_string_array(algebra_, value);
  }
  const auto has = [&names](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  static constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "object", "array",
                                                             "number", "string",  "integer"};
  for (const std::string& name : names) {
    if (std::find(kTypes.begin(), kTypes.end(), name) == kTypes.end()) {
      refuse(value, fmt::format("{} is not a type", quoted(name)));
    }
  }
  ValueSet types = algebra_.nothing();
  types.null = has("null");
  types.booleans[0] = types.booleans[1] = has("boolean");
  if (has("integer")) types.numbers = algebra_.numbers().integers();
  if (has("number")) types.numbers = algebra_.numbers().all();
  if (has("string")) types.strings = types.possible_strings = algebra_.text().all();
  if (has("object")) types.objects.emplace_back();
  if (has("array")) types.arrays.emplace_back();
  set_ = algebra_.intersect(set_, types);
}

void AssertionReader::enumeration(JsonId value) {
  const JsonNode& node = document_[value];
  if (!node.is_array()) refuse(value, "it is not an array");
  if (node.items.empty()) algebra_.note_contradiction("enum", value, "is empty");
  constants_ = node.items;
  has_constants_ = true;
}

void AssertionReader::multiple_of(JsonId value) {
  const Decimal divisor = number(value);
  if (divisor.is_zero() || divisor.negative) refuse(value, "it is not above 0");
  if (divisor.integer_part().size() + divisor.fraction().size() > 9) {
    refuse(value, "it has more than 9 digits");
  }
  set_.numbers =
      algebra_.numbers().intersect(set_.numbers, algebra_.numbers().multiples_of(divisor));
}

void AssertionReader::bound(JsonId value) {
  const bool lower = keyword_.ends_with("inimum");
  const bool is_exclusive = keyword_.starts_with("ex");
  if (is_exclusive && document_[value].is_boolean()) return;  // draft 4: read with the other one
  const JsonId flag = document_.find(schema_, lower ? "exclusiveMinimum" : "exclusiveMaximum");
  const bool exclusive = is_exclusive || (flag != kNoJson && document_[flag].boolean);
  const Decimal limit = number(value);
  set_.numbers = algebra_.numbers().intersect(set_.numbers,
                                              lower ? algebra_.numbers().at_least(limit, exclusive)
                                                    : algebra_.numbers().at_most(limit, exclusive));
  const JsonId maximum = document_.find(schema_, "maximum");
  if (keyword_ == "minimum" && maximum != kNoJson && document_[maximum].is_number() &&
      compare(limit, number(maximum)) > 0) {
    algebra_.note_contradiction("minimum", value, "is above maximum");
  }
}

void AssertionReader::length(JsonId value) {
  const uint64_t size = count(value);
  const std::optional<uint64_t> min = sibling_count("minLength"), max = sibling_count("maxLength");
  if (keyword_ == "maxLength" && min) return;  // read with minLength
  if (min && max && *min > *max) {
    algebra_.note_contradiction("minLength", value, "is above maxLength");
    restrict_strings(algebra_.text().none());
    return;
  }
  if (min && *min >= Expressions::kUnbounded) refuse(value, "it is too large");
  const uint64_t limit = std::min<uint64_t>(max.value_or(size), Expressions::kUnbounded);
  restrict_strings(
      algebra_.text().of_length(static_cast<uint32_t>(min.value_or(0)),
                                max ? static_cast<uint32_t>(limit) : Expressions::kUnbounded));
}

void AssertionReader::pattern(JsonId value) {
  if (!document_[value].is_string()) refuse(value, "it is not a string");
  restrict_strings(matching(document_[value].text, value));
}

void AssertionReader::format(JsonId value) {
  if (!document_[value].is_string()) refuse(value, "it is not a string");
  if (!algebra_.options().formats) return;
  const FormatPattern known = format_pattern(document_[value].text);
  if (known.pattern.empty()) {
    algebra_.warn(fmt::format("format {}", quoted(document_[value].text)));
    return;
  }
  const ExpressionId possible = set_.possible_strings;
  restrict_strings(of_format(known.pattern, value));
  if (known.possible.empty()) return;
  set_.possible_strings = algebra_.text().intersect(possible, of_format(known.possible, value));
}

void AssertionReader::properties(JsonId value) {
  if (!document_[value].is_object()) refuse(value, "it is not an object");
  for (const auto& [name, member] : document_[value].members) {
    group_.names.emplace_back(name, subschema(member));
    object_.evaluated.names.push_back(name);
  }
}

void AssertionReader::pattern_properties(JsonId value) {
  if (!document_[value].is_object()) refuse(value, "it is not an object");
  for (const auto& [pattern, member] : document_[value].members) {
    group_.patterns.emplace_back(matching(pattern, member), subschema(member));
    object_.evaluated.patterns.push_back(group_.patterns.back().first);
  }
}

void AssertionReader::additional_properties(JsonId value) {
  group_.others = subschema(value);
  object_.evaluated.all = true;
}

void AssertionReader::property_names(JsonId value) {
  const ConjunctionId names = subschema(value);
  if (names != kAnything) object_.names.push_back(algebra_.values(names).strings);
}

void AssertionReader::required(JsonId value) {
  std::set<std::string_view> known;
  const std::vector<std::string> names = read_string_array(algebra_, value);
  for (const std::string& name : names) {
    if (known.insert(name).second) object_.required.push_back(name);
  }
}

void AssertionReader::object_size(JsonId value) {
  (keyword_ == "minProperties" ? object_.min : object_.max) = count(value);
  check_sizes(object_.min, object_.max, value);
}

void AssertionReader::items(JsonId value) {
  if (document_[value].is_array()) {  // up to 2019-09
    for (const JsonId item : document_[value].items) items_.prefix.push_back(subschema(item));
    array_.evaluated.count = std::max<uint64_t>(array_.evaluated.count, items_.prefix.size());
    return;
  }
  items_.rest = subschema(value);
  array_.evaluated.count = kNoLimit;
}

void AssertionReader::prefix_items(JsonId value) {
  if (!document_[value].is_array()) refuse(value, "it is not an array");
  for (const JsonId item : document_[value].items) items_.prefix.push_back(subschema(item));
  array_.evaluated.count = std::max<uint64_t>(array_.evaluated.count, items_.prefix.size());
}

void AssertionReader::additional_items(JsonId value) {
  const JsonId positions = document_.find(schema_, "items");
  if (positions == kNoJson || !document_[positions].is_array()) return;  // asserts nothing
  items_.rest = subschema(value);
  array_.evaluated.count = kNoLimit;
}

void AssertionReader::contains(JsonId value) {
  SomeItems some;
  some.value = subschema(value);
  if (draft_ >= Draft::k2019) {
    some.min = sibling_count("minContains").value_or(1);
    some.max = sibling_count("maxContains").value_or(kNoLimit);
    if (some.min > some.max) {
      algebra_.note_contradiction("minContains", value, "is above maxContains");
    }
  }
  if (draft_ == Draft::k2020) array_.evaluated.satisfying.push_back(some.value);
  if (some.min > 0 || some.max != kNoLimit) array_.some.push_back(some);
}

void AssertionReader::array_size(JsonId value) {
  (keyword_ == "minItems" ? array_.min : array_.max) = count(value);
  check_sizes(array_.min, array_.max, value);
}

void AssertionReader::unique_items(JsonId value) {
  if (!document_[value].is_boolean()) refuse(value, "it is not a boolean");
  array_.unique = document_[value].boolean;
}

ValueSet AssertionReader::finish() {
  const PropertyGroup without;
  if (!(group_ == without)) {
    object_.groups.push_back(share(std::move(group_)));
  }
  if (!(items_ == ItemGroup())) array_.groups.push_back(std::move(items_));
  if (!algebra_.tracks_evaluated()) {
    object_.evaluated = {};
    array_.evaluated = {};
  }
  if (!(object_ == ObjectSet())) object_.location = schema_;
  if (!(array_ == ArraySet())) array_.location = schema_;
  if (!set_.objects.empty()) set_.objects = {object_};
  if (!set_.arrays.empty()) set_.arrays = {array_};
  if (!has_constants_) return set_;
  return algebra_.intersect(set_, algebra_.constants(constants_));
}

}  // namespace heed::constrain
