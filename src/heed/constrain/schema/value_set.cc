#include "heed/constrain/schema/value_set.h"

#include <algorithm>

#include "heed/constrain/schema/algebra.h"

namespace heed::constrain {
namespace {

/// Sets of objects or of arrays in a union.
constexpr size_t kMaxUnion = 400;
/// Names, groups and so on that are compared in the time of a node of an expression.
constexpr size_t kComparisonsOfStep = 16;

template <typename T>
void append_new(std::vector<T>& to, const std::vector<T>& from) {
  for (const T& value : from) {
    if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value);
  }
}

ObjectSet merge(const ObjectSet& a, const ObjectSet& b) {
  ObjectSet result = a;
  append_new(result.groups, b.groups);
  append_new(result.required, b.required);
  append_new(result.some, b.some);
  append_new(result.names, b.names);
  result.min = std::max(a.min, b.min);
  result.max = std::min(a.max, b.max);
  result.evaluated.all |= b.evaluated.all;
  append_new(result.evaluated.names, b.evaluated.names);
  append_new(result.evaluated.patterns, b.evaluated.patterns);
  if (a.location == kNoJson) result.location = b.location;
  return result;
}

ArraySet merge(const ArraySet& a, const ArraySet& b) {
  ArraySet result = a;
  append_new(result.groups, b.groups);
  append_new(result.some, b.some);
  result.min = std::max(a.min, b.min);
  result.max = std::min(a.max, b.max);
  result.unique |= b.unique;
  result.repeating |= b.repeating;
  result.evaluated.count = std::max(a.evaluated.count, b.evaluated.count);
  append_new(result.evaluated.satisfying, b.evaluated.satisfying);
  if (a.location == kNoJson) result.location = b.location;
  return result;
}

/// The sets whose number of members or items is outside of [min, max].
template <typename Set>
void add_other_sizes(std::vector<Set>& sets, uint64_t min, uint64_t max) {
  if (min > 0) {
    sets.emplace_back();
    sets.back().max = min - 1;
  }
  if (max != kNoLimit) {
    sets.emplace_back();
    sets.back().min = max + 1;
  }
}

template <typename T>
bool has_all(Expressions& expressions, const std::vector<T>& values, const std::vector<T>& parts) {
  if (parts.size() > values.size()) return false;  // none of them is there twice
  return std::all_of(parts.begin(), parts.end(), [&](const T& part) {
    expressions.spend(values.size() / kComparisonsOfStep);
    return std::find(values.begin(), values.end(), part) != values.end();
  });
}

/// How much a set demands.
size_t size_of(const ObjectSet& set) {
  return set.groups.size() + set.required.size() + set.some.size() + set.names.size();
}
size_t size_of(const ArraySet& set) { return set.groups.size() + set.some.size(); }

/// Whether `set` demands all that `other` does, so that it is a part of it.
bool demands(Expressions& expressions, const ObjectSet& set, const ObjectSet& other) {
  const auto has = [&expressions](const auto& values, const auto& parts) {
    return has_all(expressions, values, parts);
  };
  return set.min >= other.min && set.max <= other.max && has(set.groups, other.groups) &&
         has(set.required, other.required) && has(set.some, other.some) &&
         has(set.names, other.names) && set.evaluated == other.evaluated;
}
bool demands(Expressions& expressions, const ArraySet& set, const ArraySet& other) {
  return set.min >= other.min && set.max <= other.max &&
         has_all(expressions, set.groups, other.groups) &&
         has_all(expressions, set.some, other.some) && set.unique >= other.unique &&
         set.repeating >= other.repeating && set.evaluated == other.evaluated;
}

}  // namespace

std::shared_ptr<const PropertyGroup> share(PropertyGroup group) {
  auto result = std::make_shared<PropertyGroup>(std::move(group));
  for (const auto& [name, value] : result->names) result->by_name.emplace(name, value);
  return result;
}

ValueSet SchemaAlgebra::nothing() const {
  return {false, {false, false}, numbers_.none(), text_.none(), text_.none(), {}, {}};
}

ValueSet SchemaAlgebra::everything() const {
  return {true,        {true, true},  numbers_.all(), text_.all(),
          text_.all(), {ObjectSet()}, {ArraySet()}};
}

ValueSet SchemaAlgebra::constants(const std::vector<JsonId>& locations) {
  ValueSet set = nothing();
  std::vector<std::string> strings;
  std::vector<Decimal> numbers;
  for (const JsonId location : locations) {
    const JsonNode& node = document_[location];
    switch (node.kind) {
      case JsonNode::Kind::kNull:
        set.null = true;
        break;
      case JsonNode::Kind::kBoolean:
        set.booleans[node.boolean ? 1 : 0] = true;
        break;
      case JsonNode::Kind::kNumber:
        numbers.push_back(Decimal::parse(node.text));
        break;
      case JsonNode::Kind::kString:
        strings.push_back(node.text);
        break;
      case JsonNode::Kind::kArray: {
        ArraySet array;
        array.groups.emplace_back();
        for (const JsonId item : node.items) {
          array.groups[0].prefix.push_back(conjunction({constant_term(item)}));
        }
        array.groups[0].rest = kNothing;
        array.min = array.max = node.items.size();
        set.arrays.push_back(std::move(array));
        break;
      }
      case JsonNode::Kind::kObject: {
        ObjectSet object;
        PropertyGroup group;
        for (const auto& [name, member] : node.members) {
          group.names.emplace_back(name, conjunction({constant_term(member)}));
          object.required.push_back(name);
        }
        group.others = kNothing;
        object.groups = {share(std::move(group))};
        set.objects.push_back(std::move(object));
        break;
      }
    }
  }
  set.strings = set.possible_strings = text_.one_of(strings);
  if (!numbers.empty()) set.numbers = numbers_.one_of(numbers);
  return set;
}

template <typename Set>
void SchemaAlgebra::add_unless_there(std::vector<Set>& sets, Set set) {
  expressions_.spend(sets.size() / kComparisonsOfStep);
  for (const Set& other : sets) {
    if (demands(expressions_, set, other)) return;
  }
  std::erase_if(sets, [&](const Set& other) { return demands(expressions_, other, set); });
  sets.push_back(std::move(set));
  if (sets.size() > kMaxUnion) refuse_current("it has too many alternatives");
}

template <typename Set>
std::vector<Set> SchemaAlgebra::intersect_unions(const std::vector<Set>& a,
                                                 const std::vector<Set>& b) {
  if (a.size() == 1 && a[0] == Set()) return b;
  if (b.size() == 1 && b[0] == Set()) return a;
  std::vector<Set> result;
  for (const Set& left : a) {
    for (const Set& right : b) {
      spend(1);
      expressions_.spend(size_of(left) * size_of(right) / kComparisonsOfStep);
      Set set = merge(left, right);
      if ((a.size() == 1 && b.size() == 1) || is_possible(set)) {
        add_unless_there(result, std::move(set));
      }
    }
  }
  return result;
}

ValueSet SchemaAlgebra::intersect(const ValueSet& a, const ValueSet& b) {
  return {a.null && b.null,
          {a.booleans[0] && b.booleans[0], a.booleans[1] && b.booleans[1]},
          numbers_.intersect(a.numbers, b.numbers),
          text_.intersect(a.strings, b.strings),
          text_.intersect(a.possible_strings, b.possible_strings),
          intersect_unions(a.objects, b.objects),
          intersect_unions(a.arrays, b.arrays)};
}

ValueSet SchemaAlgebra::unite(const ValueSet& a, const ValueSet& b) {
  ValueSet result = a;
  result.null |= b.null;
  for (const int i : {0, 1}) result.booleans[i] |= b.booleans[i];
  result.numbers = numbers_.unite(a.numbers, b.numbers);
  result.strings = text_.unite(a.strings, b.strings);
  result.possible_strings = text_.unite(a.possible_strings, b.possible_strings);
  for (const ObjectSet& set : b.objects) add_unless_there(result.objects, set);
  for (const ArraySet& set : b.arrays) add_unless_there(result.arrays, set);
  spend(1 + b.objects.size() + b.arrays.size());
  return result;
}

ValueSet SchemaAlgebra::complement(const ValueSet& set) {
  if (set.possible_strings == text_.all() && set.strings != text_.all()) {
    refuse_current("a format that it negates is not regular");
  }
  ValueSet result = {!set.null,
                     {!set.booleans[0], !set.booleans[1]},
                     numbers_.complement(set.numbers),
                     text_.complement(set.possible_strings),
                     text_.complement(set.strings),
                     {ObjectSet()},
                     {ArraySet()}};
  for (const ObjectSet& part : set.objects) {
    result.objects = intersect_unions(result.objects, complement(part));
  }
  for (const ArraySet& part : set.arrays) {
    result.arrays = intersect_unions(result.arrays, complement(part));
  }
  return result;
}

std::shared_ptr<const PropertyGroup> SchemaAlgebra::one_property(const std::string& name,
                                                                 ConjunctionId value) {
  auto& known = one_property_[{name, value}];
  if (!known) {
    PropertyGroup group;
    group.names.emplace_back(name, value);
    group.ordered = false;
    known = share(std::move(group));
  }
  return known;
}

std::vector<ObjectSet> SchemaAlgebra::complement(const ObjectSet& set) {
  std::vector<ObjectSet> result;
  const auto add_some = [&result](ExpressionId names, ConjunctionId value) {
    if (value == kNothing) return;
    result.emplace_back();
    result.back().some = {{names, value}};
  };
  add_other_sizes(result, set.min, set.max);
  for (const std::string& name : set.required) {
    result.emplace_back();
    result.back().groups = {one_property(name, kNothing)};
  }
  for (const auto& group : set.groups) {
    std::vector<std::string> names;
    ExpressionId others = text_.none();
    for (const auto& [name, value] : group->names) {
      names.push_back(name);
      if (value == kAnything) continue;
      result.emplace_back();
      result.back().required = {name};
      result.back().groups = {one_property(name, outside(value))};
    }
    for (const auto& [pattern, value] : group->patterns) {
      add_some(pattern, outside(value));
      others = text_.unite(others, pattern);
    }
    if (group->others == kAnything) continue;
    others = text_.unite(others, text_.one_of(names));
    add_some(text_.complement(others), outside(group->others));
  }
  for (const SomeProperty& some : set.some) {
    PropertyGroup group;
    group.patterns = {{some.names, outside(some.value)}};
    group.ordered = false;
    result.emplace_back();
    result.back().groups = {share(std::move(group))};
  }
  for (const ExpressionId names : set.names) add_some(text_.complement(names), kAnything);
  return result;
}

std::vector<ArraySet> SchemaAlgebra::complement(const ArraySet& set) {
  std::vector<ArraySet> result;
  add_other_sizes(result, set.min, set.max);
  for (const ItemGroup& group : set.groups) {
    for (size_t i = 0; i < group.prefix.size(); ++i) {
      const ConjunctionId value = outside(group.prefix[i]);
      if (value == kNothing) continue;
      result.emplace_back();
      result.back().min = i + 1;
      result.back().groups.emplace_back();
      result.back().groups[0].prefix.assign(i, kAnything);
      result.back().groups[0].prefix.push_back(value);
    }
    if (group.rest == kAnything) continue;
    result.emplace_back();
    result.back().some = {{outside(group.rest), group.prefix.size(), 1, kNoLimit}};
  }
  for (const SomeItems& some : set.some) {
    if (some.min > 0) {
      result.emplace_back();
      result.back().some = {{some.value, some.from, 0, some.min - 1}};
    }
    if (some.max != kNoLimit) {
      result.emplace_back();
      result.back().some = {{some.value, some.from, some.max + 1, kNoLimit}};
    }
  }
  if (set.unique) {
    result.emplace_back();
    result.back().repeating = true;
  }
  if (set.repeating) {
    result.emplace_back();
    result.back().unique = true;
  }
  return result;
}

}  // namespace heed::constrain
