// Which members and items sets of objects and arrays allow, and whether there is any such value.
#include <algorithm>

#include "heed/constrain/schema/algebra.h"
#include "heed/constrain/schema/value_set.h"

namespace heed::constrain {
namespace {

/// What looking up whether a pattern matches a name costs, relative to a node of an expression.
constexpr size_t kNameCost = 6;

/// The names of a set in which no other is allowed, if there is such a list.
const PropertyGroup* closed_group(const ObjectSet& set) {
  const PropertyGroup* shortest = nullptr;
  for (const auto& group : set.groups) {
    if (group->others != kNothing || !group->patterns.empty()) continue;
    if (shortest == nullptr || group->names.size() < shortest->names.size()) {
      shortest = group.get();
    }
  }
  return shortest;
}

}  // namespace

ConjunctionId SchemaAlgebra::member_value(const ObjectSet& set, const std::string& name) {
  ConjunctionId result = kAnything;
  expressions_.spend(set.groups.size());
  for (const auto& group : set.groups) {
    const auto known = group->by_name.find(name);
    bool found = known != group->by_name.end();
    if (found) result = both(result, known->second);
    for (const auto& [pattern, value] : group->patterns) {
      if (!matches_name(pattern, name)) continue;
      found = true;
      result = both(result, value);
    }
    if (!found) result = both(result, group->others);
  }
  return result;
}

bool SchemaAlgebra::matches_name(ExpressionId names, const std::string& name) {
  expressions_.spend(kNameCost);
  const auto [place, inserted] = name_matches_.try_emplace({names, name}, false);
  if (inserted) place->second = text_.contains(names, name);
  return place->second;
}

bool SchemaAlgebra::allows_name(const ObjectSet& set, const std::string& name) {
  return std::all_of(set.names.begin(), set.names.end(),
                     [&](ExpressionId names) { return matches_name(names, name); });
}

ConjunctionId SchemaAlgebra::item_value(const ArraySet& set, uint64_t position) {
  ConjunctionId result = kAnything;
  for (const ItemGroup& group : set.groups) {
    result = both(result, position < group.prefix.size() ? group.prefix[position] : group.rest);
  }
  return result;
}

bool SchemaAlgebra::is_possible(const ObjectSet& set) {
  if (set.min > set.max || set.required.size() > set.max) return false;
  for (const std::string& name : set.required) {
    if (!allows_name(set, name) || is_empty(member_value(set, name))) return false;
  }
  const PropertyGroup* closed = closed_group(set);
  if (closed != nullptr && closed->names.size() < set.min) return false;
  for (const SomeProperty& some : set.some) {
    if (is_empty(some.value)) return false;
    if (closed == nullptr) continue;
    const auto has_one = [&](const auto& known) {
      const std::string& name = known.first;
      return matches_name(some.names, name) && allows_name(set, name) &&
             !is_empty(both(member_value(set, name), some.value));
    };
    if (std::none_of(closed->names.begin(), closed->names.end(), has_one)) return false;
  }
  return true;
}

bool SchemaAlgebra::is_possible(const ArraySet& set) {
  if (set.min > set.max || (set.unique && set.repeating)) return false;
  // Few arrays are contradictory far from their beginning; the grammar leaves those out.
  constexpr uint64_t kPositions = 16;
  for (uint64_t i = 0; i < std::min(set.min, kPositions); ++i) {
    if (is_empty(item_value(set, i))) return false;
  }
  return std::none_of(set.some.begin(), set.some.end(), [&](const SomeItems& some) {
    return some.min > some.max || (some.min > 0 && is_empty(some.value)) ||
           (some.min > 0 && set.max != kNoLimit && some.from + some.min > set.max);
  });
}

}  // namespace heed::constrain
