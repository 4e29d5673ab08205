#include "heed/base/quote.h"
#include "heed/jinja/builtins/attributes.h"
#include "heed/jinja/parser/attribute_path.h"

namespace heed::jinja {
namespace {

Value otherwise(Call& call) {
  const bool missing =
      call.self.is_undefined() || (call.flag(1, false) && !is_true(call.runtime, call.self));
  if (!missing) return call.self;
  return call.has(0) ? *call.values[0] : call.runtime.text("");
}

Value attribute(Call& call) {
  const Text& name = call.text(0);
  if (call.self.is_undefined()) fail_undefined(call.runtime, call.self);
  const Value found = python_attribute(call.runtime, call.self, name.bytes);
  if (!found.is_missing()) return found;
  return Value::undefined(
      fmt::format("'{} object' has no attribute {}", type_name(call.self), quoted(name.bytes)));
}

/// A generator over the items of the filter's input: change(item, result) says whether an item
/// gives a result. As in jinja2, nothing is evaluated before the first item is asked for.
template <typename Change>
Value over_items(Call& call, Change change) {
  Runtime& runtime = call.runtime;
  int depth = call.self.depth();
  for (const Value& value : call.arguments.positional) depth = std::max(depth, value.depth());
  return runtime.generator(
      [&runtime, self = call.self, change = std::move(change), source = IteratorRef(),
       ended = false](Value& result) mutable {
        if (!source && !ended) ended = !is_true(runtime, self);
        if (ended) return false;
        if (!source) source = iterate(runtime, self);
        for (Value item; source->next(item);)
          if (change(item, result)) return true;
        ended = true;
        return false;
      },
      depth + 1);
}

Value map_attribute(Call& call) {
  Arguments given = call.arguments;
  Value path = Value::none(), fallback = Value::none();
  std::string unknown;
  for (const auto& [name, value] : given.keywords) {
    if (name == "attribute")
      path = value;
    else if (name == "default")
      fallback = value;
    else
      unknown = name;
  }
  return over_items(
      call, [&runtime = call.runtime, path, fallback, unknown](const Value& item, Value& result) {
        if (!unknown.empty()) runtime.fail("Unexpected keyword argument {}", quoted(unknown));
        result = AttributePath(runtime, path).get(runtime, item, fallback);
        return true;
      });
}

Value map(Call& call) {
  if (call.arguments.positional.empty() && call.arguments.keyword("attribute"))
    return map_attribute(call);
  return over_items(
      call, [&runtime = call.runtime, given = call.arguments](const Value& item, Value& result) {
        if (given.positional.empty() || !given.positional[0].is_text())
          runtime.fail("map requires a filter argument");
        Arguments rest = given;
        rest.positional.erase(rest.positional.begin());
        result = filtered(runtime, given.positional[0].text().bytes, item, rest);
        return true;
      });
}

/// select, reject, selectattr and rejectattr.
template <bool wanted, bool by_attribute>
Value select(Call& call) {
  return over_items(
      call, [&runtime = call.runtime, given = call.arguments](const Value& item, Value& result) {
        Arguments rest = given;
        const auto take = [&] {
          Value value = std::move(rest.positional.front());
          rest.positional.erase(rest.positional.begin());
          return value;
        };
        if (by_attribute && rest.positional.empty())
          runtime.fail("Missing parameter for attribute name");
        const Value value = by_attribute ? AttributePath(runtime, take()).get(runtime, item) : item;
        bool holds = false;
        if (rest.positional.empty()) {
          holds = is_true(runtime, value);
        } else {
          const Value test = take();
          if (!test.is_text()) runtime.fail("the name of a test must be a string");
          holds = passes(runtime, test.text().bytes, value, rest);
        }
        result = item;
        return holds == wanted;
      });
}

constexpr Builtin kSelectionFilters[] = {
    {"default", "default_value? boolean?", otherwise},
    {"d", "default_value? boolean?", otherwise},
    {"attr", "name", attribute},
    {"map", "*", map},
    {"select", "*", select<true, false>},
    {"reject", "*", select<false, false>},
    {"selectattr", "*", select<true, true>},
    {"rejectattr", "*", select<false, true>},
};

}  // namespace

Builtins selection_filters() { return kSelectionFilters; }

}  // namespace heed::jinja
