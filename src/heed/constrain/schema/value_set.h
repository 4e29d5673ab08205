#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/constrain/expressions.h"
#include "heed/constrain/schema/json_document.h"
#include "heed/constrain/schema/number_language.h"

namespace heed::constrain {

/// A conjunction of schemas, each as it stands or negated, by its position in the SchemaAlgebra.
/// Members and items are described by these, so that a set of values is described one level at a
/// time and recursive schemas stay finite.
enum class ConjunctionId : int32_t {};
inline constexpr ConjunctionId kAnything{0}, kNothing{1};

inline constexpr uint64_t kNoLimit = UINT64_MAX;

/// What "properties", "patternProperties" and "additionalProperties" of one schema demand: the
/// value of a member satisfies the schemas of its name and of each pattern that matches it; if
/// there are none, `others`.
struct PropertyGroup {
  std::vector<std::pair<std::string, ConjunctionId>> names;
  std::vector<std::pair<ExpressionId, ConjunctionId>> patterns;
  ConjunctionId others = kAnything;
  /// Whether members are written in the order of `names`.
  bool ordered = true;
  std::map<std::string_view, ConjunctionId> by_name = {};  // once it is shared

  bool operator==(const PropertyGroup&) const = default;
};

std::shared_ptr<const PropertyGroup> share(PropertyGroup group);

/// At least one member with a name of `names` has a value of `value`.
struct SomeProperty {
  ExpressionId names;
  ConjunctionId value;

  bool operator==(const SomeProperty&) const = default;
};

/// The members that "unevaluatedProperties" does not look at.
struct EvaluatedProperties {
  bool all = false;
  std::vector<std::string> names;
  std::vector<ExpressionId> patterns;

  bool operator==(const EvaluatedProperties&) const = default;
};

/// Objects that satisfy all of this.
struct ObjectSet {
  std::vector<std::shared_ptr<const PropertyGroup>> groups;
  std::vector<std::string> required;
  std::vector<SomeProperty> some;
  std::vector<ExpressionId> names;  // each name matches all of them
  uint64_t min = 0, max = kNoLimit;
  EvaluatedProperties evaluated;
  JsonId location = kNoJson;  // of a schema that demands this, for messages

  bool operator==(const ObjectSet&) const = default;
};

/// The items at the positions of `prefix` satisfy its schemas, all others `rest`.
struct ItemGroup {
  std::vector<ConjunctionId> prefix;
  ConjunctionId rest = kAnything;

  bool operator==(const ItemGroup&) const = default;
};

/// At least `min` and at most `max` of the items from position `from` on satisfy `value`.
struct SomeItems {
  ConjunctionId value;
  uint64_t from = 0, min = 1, max = kNoLimit;

  bool operator==(const SomeItems&) const = default;
};

/// The items that "unevaluatedItems" does not look at.
struct EvaluatedItems {
  uint64_t count = 0;  // at the beginning
  std::vector<ConjunctionId> satisfying;

  bool operator==(const EvaluatedItems&) const = default;
};

/// Arrays that satisfy all of this.
struct ArraySet {
  std::vector<ItemGroup> groups;
  std::vector<SomeItems> some;
  uint64_t min = 0, max = kNoLimit;
  bool unique = false, repeating = false;  // no two items are equal; some two are
  EvaluatedItems evaluated;
  JsonId location = kNoJson;  // of a schema that demands this, for messages

  bool operator==(const ArraySet&) const = default;
};

/// A set of JSON values: a union for each type.
struct ValueSet {
  bool null = false;
  bool booleans[2] = {false, false};  // whether false belongs to it, and true
  NumberSet numbers;
  ExpressionId strings;
  /// `strings`, and those that are left out because whether a format has them is not regular.
  ExpressionId possible_strings;
  std::vector<ObjectSet> objects;
  std::vector<ArraySet> arrays;
};

}  // namespace heed::constrain
