#include "heed/jinja/builtins/attributes.h"

#include <algorithm>
#include <array>

#include "heed/base/quote.h"
#include "heed/base/utf8.h"
#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/runtime.h"
#include "heed/jinja/values/compare.h"

namespace heed::jinja {
namespace {

template <size_t n>
bool is_among(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Methods that change their object. The sandbox lets no template have them.
bool is_forbidden(const Value& value, std::string_view name) {
  constexpr std::array<std::string_view, 8> kOfLists{"append", "clear", "pop",    "reverse",
                                                     "insert", "sort",  "extend", "remove"};
  constexpr std::array<std::string_view, 5> kOfDicts{"clear", "pop", "popitem", "setdefault",
                                                     "update"};
  return (value.is_list() && is_among(name, kOfLists)) ||
         (value.is_dict() && is_among(name, kOfDicts));
}

/// What Python has, but heed does not.
bool is_unsupported(const Value& value, std::string_view name) {
  constexpr std::array<std::string_view, 17> kOfTexts{
      "casefold",  "center",       "encode",    "expandtabs",  "format_map", "isascii",
      "isdecimal", "isidentifier", "isnumeric", "isprintable", "istitle",    "ljust",
      "maketrans", "rjust",        "swapcase",  "translate",   "zfill"};
  constexpr std::array<std::string_view, 13> kOfNumbers{
      "as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator",
      "from_bytes",       "fromhex",   "hex",        "imag",      "is_integer",
      "numerator",        "real",      "to_bytes"};
  return (value.is_text() && is_among(name, kOfTexts)) ||
         (value.is_number() && is_among(name, kOfNumbers)) ||
         (value.is_dict() && name == "fromkeys");
}

Value no_attribute(const Value& value, std::string_view name) {
  return Value::undefined(
      fmt::format("'{} object' has no attribute {}", type_name(value), quoted(name)));
}

/// Position of a Python index in something of `size` elements; size if there is none.
size_t position(int64_t index, size_t size) {
  const auto count = static_cast<int64_t>(size);
  if (index < 0) index += count;
  return index >= 0 && index < count ? static_cast<size_t>(index) : size;
}

/// value[index], or a missing value.
Value element(Runtime& runtime, const Value& value, int64_t index) {
  if (value.is_sequence()) {
    const size_t at = position(index, value.items().size());
    return at < value.items().size() ? value.items()[at] : Value();
  }
  if (const auto* range = value.as<Range>()) {
    const size_t at = position(index, range->size());
    return at < range->size() ? Value((*range)[at]) : Value();
  }
  if (!value.is_text()) return {};
  const Text& text = value.text();
  const size_t at = position(index, text.length);
  if (at == text.length) return {};
  if (!text.is_ascii()) runtime.step_bytes(4 * text.bytes.size());
  const size_t begin = text.byte_of(at);
  return runtime.slice(text, begin, begin + code_point_at(text.bytes, begin).length);
}

bool is_hashable(const Value& key) {
  if (key.is_dict()) return false;
  if (!key.is_sequence()) return true;
  return key.is_tuple() && std::all_of(key.items().begin(), key.items().end(), is_hashable);
}

/// A slice of `size` elements: `count` of them from `first` in steps of `step`.
struct Stride {
  int64_t first, last, step;  // last: one step past the slice
  size_t count;
};

int64_t bound(Runtime& runtime, const Value& value, int64_t otherwise) {
  if (value.is_none()) return otherwise;
  if (const auto integer = value.integer()) return *integer;
  if (value.is_undefined()) fail_undefined(runtime, value);
  runtime.fail("slice indices must be integers or None, not {}", type_name(value));
}

Stride stride_of(Runtime& runtime, const Bounds& bounds, size_t elements) {
  const auto size = static_cast<int64_t>(elements);
  const int64_t step = bound(runtime, bounds.step, 1);
  if (step == 0) runtime.fail("slice step cannot be zero");
  const bool down = step < 0;
  const int64_t lowest = down ? -1 : 0, highest = down ? size - 1 : size;
  const auto clamped = [&](const Value& value, int64_t otherwise) {
    int64_t at = bound(runtime, value, otherwise);
    if (value.is_none()) return at;
    if (at < 0) at = at < -size ? lowest : at + size;
    return std::clamp(at, lowest, highest);
  };
  const int64_t first = clamped(bounds.start, down ? highest : lowest);
  const int64_t last = clamped(bounds.stop, down ? lowest : highest);
  const size_t count = Range(first, last, step).size();
  return {first, last, step, count};
}

Value slice_of_text(Runtime& runtime, const Text& text, const Stride& stride) {
  if (stride.count == 0) return runtime.slice(text, 0, 0);
  runtime.step_bytes((text.is_ascii() ? 1 : 4) * text.bytes.size());
  if (stride.step == 1) {
    const size_t begin = text.byte_of(static_cast<size_t>(stride.first));
    const size_t end = text.byte_of(static_cast<size_t>(stride.first) + stride.count);
    return runtime.slice(text, begin, end);
  }
  const Charge charge(runtime.values, text.length * sizeof(size_t));
  std::vector<size_t> begins;  // of each character, and the end
  for (CharacterReader reader(text); !reader.done();) begins.push_back(reader.next().begin);
  begins.push_back(text.bytes.size());
  TextBuilder out(runtime.values);
  for (size_t i = 0; i < stride.count; ++i) {
    const auto at = static_cast<size_t>(stride.first + static_cast<int64_t>(i) * stride.step);
    out.append(text, begins[at], begins[at + 1]);
  }
  runtime.step(stride.count);
  return runtime.text(out.finish(text.markup));
}

}  // namespace

Value python_attribute(Runtime& runtime, const Value& value, std::string_view name) {
  if (is_forbidden(value, name) || name.starts_with("__"))
    return Value::undefined(fmt::format("access to attribute {} of '{}' object is unsafe.",
                                        quoted(name), type_name(value)));
  if (is_unsupported(value, name))
    runtime.fail("the method {}.{} is not supported", type_name(value), name);
  if (const Builtin* method = find_method(value, name))
    return runtime.object(std::make_shared<BoundBuiltin>(*method, value));
  return value.is_object() ? value.object().attribute(runtime, name) : Value();
}

Value get_attribute(Runtime& runtime, const Value& value, std::string_view name) {
  // Names of Python's own attributes exist everywhere.
  const bool special = name.starts_with("__") && name.ends_with("__");
  if (value.is_undefined() && !special) fail_undefined(runtime, value);
  if (value.is_dict() && name.starts_with("__"))
    if (const Value* found = value.dict().find(name)) return *found;
  const Value attribute = python_attribute(runtime, value, name);
  if (!attribute.is_missing()) return attribute;
  if (value.is_dict())
    if (const Value* found = value.dict().find(name)) return *found;
  return no_attribute(value, name);
}

Value get_item(Runtime& runtime, const Value& value, const Value& key) {
  if (value.is_undefined()) fail_undefined(runtime, value);
  if (value.is_dict()) {
    const Value* found = is_hashable(key) ? value.dict().find(runtime, key) : nullptr;
    if (found != nullptr) return *found;
  } else if (const auto index = key.integer()) {
    const Value found = element(runtime, value, *index);
    if (!found.is_missing()) return found;
  }
  if (!key.is_text())
    return Value::undefined(fmt::format("'{} object' has no such element", type_name(value)));
  const Value attribute = python_attribute(runtime, value, key.text().bytes);
  return attribute.is_missing() ? no_attribute(value, key.text().bytes) : attribute;
}

Value get_slice(Runtime& runtime, const Value& value, const Bounds& bounds) {
  if (value.is_undefined()) fail_undefined(runtime, value);
  const auto* range = value.as<Range>();
  if (!value.is_text() && !value.is_sequence() && range == nullptr)
    runtime.fail("'{}' object cannot be sliced", type_name(value));
  const Stride stride = stride_of(runtime, bounds, *length_of(runtime, value));
  if (value.is_text()) return slice_of_text(runtime, value.text(), stride);
  if (range != nullptr) {
    const auto at = [&](int64_t index) { return range->start() + index * range->step(); };
    return runtime.object(
        std::make_shared<Range>(at(stride.first), at(stride.last), range->step() * stride.step));
  }
  const Charge charge(runtime.values, stride.count * sizeof(Value));
  std::vector<Value> items;
  items.reserve(stride.count);
  for (size_t i = 0; i < stride.count; ++i)
    items.push_back(
        value.items()[static_cast<size_t>(stride.first + static_cast<int64_t>(i) * stride.step)]);
  return runtime.list(std::move(items), value.is_tuple());
}

}  // namespace heed::jinja
