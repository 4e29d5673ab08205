#include <algorithm>

#include "heed/jinja/operators.h"
#include "heed/jinja/parser/attribute_path.h"
#include "heed/jinja/values/compare.h"

namespace heed::jinja {
namespace {

/// An item and what it is sorted by.
struct Keyed {
  Value key, item;
};

/// sorted(items, key, reverse): equal items keep their order, in reverse too.
void sort_keyed(Runtime& runtime, std::vector<Keyed>& items, bool reverse) {
  std::stable_sort(items.begin(), items.end(), [&](const Keyed& left, const Keyed& right) {
    return reverse ? less(runtime, right.key, left.key) : less(runtime, left.key, right.key);
  });
}

Value items_list(Runtime& runtime, std::vector<Keyed> keyed) {
  std::vector<Value> items;
  for (Keyed& entry : keyed) items.push_back(std::move(entry.item));
  return runtime.list(std::move(items));
}

Value case_key(Runtime& runtime, const Value& value, bool case_sensitive) {
  return case_sensitive ? value : without_case(runtime, value);
}

Value sort(Call& call) {
  Runtime& runtime = call.runtime;
  const bool reverse = call.flag(0, false), case_sensitive = call.flag(1, false);
  const std::vector<AttributePath> paths = attribute_paths(runtime, call.value(2));
  std::vector<Keyed> keyed;
  for (const Value& item : items_of(runtime, call.self)) {
    std::vector<Value> key;
    for (const AttributePath& path : paths)
      key.push_back(case_key(runtime, path.get(runtime, item), case_sensitive));
    keyed.push_back({runtime.list(std::move(key)), item});
  }
  sort_keyed(runtime, keyed, reverse);
  return items_list(runtime, std::move(keyed));
}

Value dict_sort(Call& call) {
  Runtime& runtime = call.runtime;
  const bool case_sensitive = call.flag(0, false), reverse = call.flag(2, false);
  const std::string by = call.has(1) ? call.text(1).bytes : "key";
  if (by != "key" && by != "value")
    runtime.fail("You can only sort by either \"key\" or \"value\"");
  if (call.self.is_undefined()) fail_undefined(runtime, call.self);
  if (!call.self.is_dict()) runtime.fail("'{}' object has no items", type_name(call.self));
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : call.self.dict().entries())
    keyed.push_back({case_key(runtime, by == "key" ? key : value, case_sensitive),
                     runtime.tuple({key, value})});
  sort_keyed(runtime, keyed, reverse);
  return items_list(runtime, std::move(keyed));
}

Value unique(Call& call) {
  Runtime& runtime = call.runtime;
  const bool case_sensitive = call.flag(0, false);
  const AttributePath path(runtime, call.value(1));
  auto seen = std::make_shared<Dict>();
  return runtime.generator(
      [&runtime, self = call.self, path, case_sensitive, seen,
       source = IteratorRef()](Value& item) mutable {
        if (!source) source = iterate(runtime, self);
        while (source->next(item)) {
          const Value key = case_key(runtime, path.get(runtime, item), case_sensitive);
          if (seen->find(runtime, key) != nullptr) continue;
          seen->set(runtime, key, Value::none());
          return true;
        }
        return false;
      },
      call.self.depth() + 1);
}

template <bool greatest>
Value extreme(Call& call) {
  Runtime& runtime = call.runtime;
  const bool case_sensitive = call.flag(0, false);
  const AttributePath path(runtime, call.value(1));
  const IteratorRef source = iterate(runtime, call.self);
  Value best, best_key;
  for (Value item; source->next(item);) {
    Value key = case_key(runtime, path.get(runtime, item), case_sensitive);
    const bool better = best.is_missing() ||
                        (greatest ? less(runtime, best_key, key) : less(runtime, key, best_key));
    if (!better) continue;
    best = std::move(item);
    best_key = std::move(key);
  }
  return best.is_missing() ? Value::undefined("No aggregated item, sequence was empty.") : best;
}

Value sum(Call& call) {
  Runtime& runtime = call.runtime;
  const AttributePath path(runtime, call.value(0));
  Value total = call.has(1) ? *call.values[1] : Value(int64_t{0});
  if (total.is_text()) runtime.fail("sum() can't sum strings");
  const IteratorRef source = iterate(runtime, call.self);
  for (Value item; source->next(item);)
    total = binary(runtime, ast::Op::add, total, path.get(runtime, item));
  return total;
}

constexpr Builtin kOrderingFilters[] = {
    {"sort", "reverse? case_sensitive? attribute?", sort},
    {"dictsort", "case_sensitive? by? reverse?", dict_sort},
    {"unique", "case_sensitive? attribute?", unique},
    {"min", "case_sensitive? attribute?", extreme<false>},
    {"max", "case_sensitive? attribute?", extreme<true>},
    {"sum", "attribute? start?", sum},
};

}  // namespace

Builtins ordering_filters() { return kOrderingFilters; }

}  // namespace heed::jinja
