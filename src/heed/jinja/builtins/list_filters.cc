#include <algorithm>

#include "heed/jinja/builtins/attributes.h"
#include "heed/jinja/parser/attribute_path.h"
#include "heed/jinja/values/repr.h"
#include "heed/jinja/values/text_tools.h"

namespace heed::jinja {
namespace {

Value to_list(Call& call) { return call.runtime.list(items_of(call.runtime, call.self)); }

Value length(Call& call) {
  const auto length = length_of(call.runtime, call.self);
  if (!length) call.runtime.fail("object of type '{}' has no len()", type_name(call.self));
  return Value(static_cast<int64_t>(*length));
}

Value first(Call& call) {
  Value item;
  const IteratorRef iterator = iterate(call.runtime, call.self);
  return iterator->next(item) ? item : Value::undefined("No first item, sequence was empty.");
}

bool is_reversible(const Value& value) {
  return is_iterable(value) && value.as<Iterator>() == nullptr;
}

Value last(Call& call) {
  if (!is_reversible(call.self))
    call.runtime.fail("'{}' object is not reversible", type_name(call.self));
  const std::vector<Value> items = items_of(call.runtime, call.self);
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value reverse(Call& call) {
  if (call.self.is_text())
    return get_slice(call.runtime, call.self, {Value::none(), Value::none(), Value(int64_t{-1})});
  std::vector<Value> items = items_of(call.runtime, call.self);
  std::reverse(items.begin(), items.end());
  Value reversed = call.runtime.list(std::move(items));
  if (!is_reversible(call.self)) return reversed;
  const IteratorRef iterator = iterate(call.runtime, reversed);
  return call.runtime.object(iterator);
}

Value join(Call& call) {
  const Value separator =
      call.has(0) ? str_of(call.runtime, *call.values[0]) : call.runtime.text("");
  const AttributePath path(call.runtime, call.value(1));
  const IteratorRef iterator = iterate(call.runtime, call.self);
  TextBuilder out(call.runtime.values);
  bool begun = false;
  for (Value item; iterator->next(item); begun = true) {
    if (begun) out.append(separator.text());
    call.runtime.step_bytes(separator.text().bytes.size());
    append_str(call.runtime, out, path.get(call.runtime, item));
  }
  return call.runtime.text(out.finish());
}

/// A generator of the elements of a list that `make` gives when the first is asked for.
template <typename Make>
Value lazily(Call& call, Make make) {
  Runtime& runtime = call.runtime;
  return runtime.generator(
      [&runtime, make = std::move(make), iterator = IteratorRef()](Value& item) mutable {
        if (!iterator) iterator = iterate(runtime, runtime.list(make()));
        return iterator->next(item);
      },
      call.self.depth() + 2);
}

Value items(Call& call) {
  return lazily(call, [&runtime = call.runtime, self = call.self] {
    std::vector<Value> pairs;
    if (self.is_undefined()) return pairs;
    if (!self.is_dict()) runtime.fail("Can only get item pairs from a mapping.");
    for (const auto& [key, value] : self.dict().entries())
      pairs.push_back(runtime.tuple({key, value}));
    return pairs;
  });
}

constexpr Builtin kListFilters[] = {
    {"list", "", to_list},
    {"length", "", length},
    {"count", "", length},
    {"first", "", first},
    {"last", "", last},
    {"reverse", "", reverse},
    {"join", "d? attribute?", join},
    {"items", "", items},
};

}  // namespace

Builtins list_filters() { return kListFilters; }

}  // namespace heed::jinja
