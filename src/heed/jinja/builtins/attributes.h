#pragma once

#include <string_view>

#include "heed/jinja/values/value.h"

namespace heed::jinja {

/// value.name: an attribute or a method, else an item. What is not there is undefined; so is what
/// the sandbox forbids, such as list.append. Throws Error when `value` is undefined.
Value get_attribute(Runtime& runtime, const Value& value, std::string_view name);
/// value[key]: an item, else an attribute.
Value get_item(Runtime& runtime, const Value& value, const Value& key);
/// The attribute or method `name`; missing if there is none.
Value python_attribute(Runtime& runtime, const Value& value, std::string_view name);

/// value[start:stop:step]; none for a bound that is not given.
struct Bounds {
  Value start, stop, step;
};
Value get_slice(Runtime& runtime, const Value& value, const Bounds& bounds);

}  // namespace heed::jinja
