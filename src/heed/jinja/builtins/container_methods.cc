#include <algorithm>

#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/values/compare.h"

namespace heed::jinja {
namespace {

Value count_item(Call& call) {
  int64_t count = 0;
  for (const Value& item : items_of(call.runtime, call.self))
    count += item.same_as(*call.values[0]) || equal(call.runtime, item, *call.values[0]);
  return Value(count);
}

Value index_of(Call& call) {
  const std::vector<Value> items = items_of(call.runtime, call.self);
  const auto size = static_cast<int64_t>(items.size());
  const auto bound = [&](size_t i, int64_t otherwise) {
    const int64_t at = call.integer(i, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const int64_t last = bound(2, size);
  for (int64_t i = bound(1, 0); i < last; ++i)
    if (equal(call.runtime, items[static_cast<size_t>(i)], *call.values[0])) return Value(i);
  call.runtime.fail("the value is not in the {}", type_name(call.self));
}

Value copy(Call& call) { return call.self; }  // nothing can change it

template <DictView::Part part>
Value view(Call& call) {
  return call.runtime.object(std::make_shared<DictView>(call.self.dict_ref(), part));
}

Value get(Call& call) {
  const Value* found = call.self.dict().find(call.runtime, *call.values[0]);
  return found ? *found : call.value(1);
}

constexpr Builtin kSequenceMethods[] = {
    {"index", "/value start? stop?", index_of},
    {"count", "/value", count_item},
    {"copy", "", copy},
};

constexpr Builtin kDictMethods[] = {
    {"items", "", view<DictView::Part::items>},
    {"keys", "", view<DictView::Part::keys>},
    {"values", "", view<DictView::Part::values>},
    {"get", "/key default?", get},
    {"copy", "", copy},
};

}  // namespace

Builtins sequence_methods() { return kSequenceMethods; }
Builtins dict_methods() { return kDictMethods; }

}  // namespace heed::jinja
