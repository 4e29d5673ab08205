#include "heed/constrain/schema/schema_validator.h"

#include <algorithm>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/constrain/schema/decimal.h"

namespace heed::constrain {
namespace {

// What a text may take, the expressions being those of all texts.
constexpr Expressions::Limits kLimitsOfTexts = {.nodes = size_t{1} << 20, .steps = size_t{1} << 25};

std::string_view kind_name(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      return "null";
    case JsonNode::Kind::kBoolean:
      return node.boolean ? "true" : "false";
    case JsonNode::Kind::kNumber:
      return "this number";
    case JsonNode::Kind::kString:
      return "this string";
    case JsonNode::Kind::kArray:
      return "an array";
    case JsonNode::Kind::kObject:
      return "an object";
  }
  return "";
}

}  // namespace

SchemaValidator::SchemaValidator(std::string_view schema, const SchemaOptions& options)
    : algebra_(expressions_, options), root_(algebra_.read(schema)) {
  if (algebra_.is_empty(root_)) algebra_.refuse_empty();
}

std::optional<std::string> SchemaValidator::violation(std::string_view text) {
  expressions_.set_limits(kLimitsOfTexts);
  instance_ = JsonDocument();
  known_.clear();
  notes_ = true;
  depth_ = 0;
  denied_depth_ = -1;
  JsonId value = kNoJson;
  try {
    value = instance_.read(text, "the text", std::numeric_limits<JsonId>::max());
  } catch (const Error& error) {
    return error.what();
  }
  if (allows(root_, value)) return std::nullopt;
  return denied_;
}

bool SchemaValidator::deny(JsonId value, std::string reason) {
  if (!notes_ || depth_ <= denied_depth_) return false;
  denied_depth_ = depth_;
  denied_ = fmt::format("{}: {}", quoted(instance_.pointer(value)), reason);
  return false;
}

bool SchemaValidator::allows(ConjunctionId id, JsonId value) {
  const std::tuple key(notes_, id, value);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  ++depth_;
  const bool allowed = is_allowed(algebra_.values(id), value);
  --depth_;
  known_.emplace(key, allowed);
  return allowed;
}

bool SchemaValidator::is_allowed(const ValueSet& set, JsonId value) {
  const JsonNode& node = instance_[value];
  bool allowed = false;
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      allowed = set.null;
      break;
    case JsonNode::Kind::kBoolean:
      allowed = set.booleans[node.boolean ? 1 : 0];
      break;
    case JsonNode::Kind::kNumber:
      allowed = allows_number(set.numbers, node.text);
      break;
    case JsonNode::Kind::kString:
      allowed = algebra_.text().contains(set.strings, node.text);
      break;
    case JsonNode::Kind::kArray:
      allowed = std::ranges::any_of(
          set.arrays, [&](const ArraySet& arrays) { return allows_array(arrays, value); });
      break;
    case JsonNode::Kind::kObject:
      allowed = std::ranges::any_of(
          set.objects, [&](const ObjectSet& objects) { return allows_object(objects, value); });
      break;
  }
  return allowed || deny(value, fmt::format("{} is not allowed", kind_name(node)));
}

bool SchemaValidator::allows_number(const NumberSet& set, const std::string& number) {
  const std::string digits = number.substr(0, number.find_first_of("eE"));
  const bool is_zero = digits.find_first_of("123456789") == digits.npos;
  const NumberSet::Part part = number.starts_with('-') ? set.negative : set.positive;
  if (part == NumberSet::Part::kAll && !is_zero) return true;  // of any length
  return expressions_.matches(set.decimals, is_zero ? "0" : Decimal::parse(number).plain());
}

bool SchemaValidator::allows_object(const ObjectSet& set, JsonId object) {
  const JsonNode& node = instance_[object];
  for (const std::string& name : set.required) {
    if (instance_.find(object, name) == kNoJson) {
      return deny(object, fmt::format("the member {} is missing", quoted(name)));
    }
  }
  if (node.members.size() < set.min || node.members.size() > set.max) {
    return deny(object, fmt::format("{} members are not allowed", node.members.size()));
  }
  for (const auto& [name, member] : node.members) {
    const ConjunctionId value = algebra_.member_value(set, name);
    if (value == kNothing || !algebra_.allows_name(set, name)) {
      return deny(object, fmt::format("the member {} is not allowed", quoted(name)));
    }
    if (!allows(value, member)) return false;
  }
  return std::ranges::all_of(set.some,
                             [&](const auto& some) { return allows_some(some, object); }) ||
         deny(object, "a member that the schema demands is missing");
}

bool SchemaValidator::allows_some(const SomeProperty& some, JsonId object) {
  const bool notes = std::exchange(notes_, false);
  const bool found = std::ranges::any_of(instance_[object].members, [&](const auto& member) {
    return algebra_.matches_name(some.names, member.first) && allows(some.value, member.second);
  });
  notes_ = notes;
  return found;
}

bool SchemaValidator::allows_array(const ArraySet& set, JsonId array) {
  const JsonNode& node = instance_[array];
  if (node.items.size() < set.min || node.items.size() > set.max) {
    return deny(array, fmt::format("{} items are not allowed", node.items.size()));
  }
  for (size_t i = 0; i < node.items.size(); ++i) {
    if (!allows(algebra_.item_value(set, i), node.items[i])) return false;
  }
  for (const SomeItems& some : set.some) {
    const uint64_t found = count(some, array);
    if (found < some.min || found > some.max) {
      return deny(array, fmt::format("{} items are of the kind that is counted", found));
    }
  }
  if (!set.unique && !set.repeating) return true;
  const bool repeats = has_equal_items(array);
  if (set.unique && repeats) return deny(array, "two items are equal");
  if (set.repeating && !repeats) return deny(array, "no two items are equal");
  return true;
}

uint64_t SchemaValidator::count(const SomeItems& some, JsonId array) {
  const bool notes = std::exchange(notes_, false);
  const std::vector<JsonId>& items = instance_[array].items;
  uint64_t found = 0;
  for (size_t i = some.from; i < items.size(); ++i) found += allows(some.value, items[i]) ? 1 : 0;
  notes_ = notes;
  return found;
}

bool SchemaValidator::has_equal_items(JsonId array) const {
  std::set<std::string> texts;
  const std::vector<JsonId>& items = instance_[array].items;
  return !std::ranges::all_of(
      items, [&](JsonId item) { return texts.insert(instance_.canonical(item)).second; });
}

}  // namespace heed::constrain
