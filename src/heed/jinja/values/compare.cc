#include "heed/jinja/values/compare.h"

#include <cmath>
#include <compare>
#include <functional>

#include "heed/jinja/runtime.h"

namespace heed::jinja {
namespace {

/// Compares exactly: a double does not hold every int64_t.
std::partial_ordering compare(int64_t integer, double real) {
  if (std::isnan(real)) return std::partial_ordering::unordered;
  if (real >= 0x1p63) return std::partial_ordering::less;
  if (real < -0x1p63) return std::partial_ordering::greater;
  const double whole = std::trunc(real);
  const auto order = integer <=> static_cast<int64_t>(whole);
  return order != 0 ? order : whole <=> real;
}

std::partial_ordering compare_numbers(const Value& left, const Value& right) {
  const auto one = left.integer(), two = right.integer();
  if (one && two) return *one <=> *two;
  if (one) return compare(*one, right.real());
  if (two) return 0 <=> compare(*two, left.real());
  return left.real() <=> right.real();
}

bool equal_sequences(Runtime& runtime, const List& left, const List& right) {
  if (left.tuple != right.tuple || left.items.size() != right.items.size()) return false;
  for (size_t i = 0; i < left.items.size(); ++i)
    if (!equal(runtime, left.items[i], right.items[i])) return false;
  return true;
}

bool equal_dicts(Runtime& runtime, const Dict& left, const Dict& right) {
  if (left.size() != right.size()) return false;
  for (const auto& [key, value] : left.entries()) {
    const Value* other = right.find(runtime, key);
    if (other == nullptr || !equal(runtime, value, *other)) return false;
  }
  return true;
}

bool equal_objects(const Value& left, const Value& right) {
  const auto* one = left.as<Range>();
  const auto* two = right.as<Range>();
  if (one == nullptr || two == nullptr) return left.same_as(right);
  if (one->size() != two->size()) return false;
  if (one->size() == 0) return true;
  return one->start() == two->start() && (one->size() == 1 || one->step() == two->step());
}

/// `or_equal`: <= instead of <.
bool ordered(Runtime& runtime, const Value& left, const Value& right, bool or_equal) {
  runtime.step();
  if (left.is_undefined()) fail_undefined(runtime, left);
  if (right.is_undefined()) fail_undefined(runtime, right);
  if (left.is_number() && right.is_number()) {
    const auto order = compare_numbers(left, right);
    return or_equal ? order <= 0 : order < 0;
  }
  if (left.is_text() && right.is_text()) {
    const std::string &one = left.text().bytes, &two = right.text().bytes;
    runtime.step_bytes(std::min(one.size(), two.size()));
    return or_equal ? one <= two : one < two;  // code points order as their UTF-8 does
  }
  if (left.is_sequence() && right.is_sequence() && left.is_tuple() == right.is_tuple()) {
    const auto &one = left.items(), &two = right.items();
    for (size_t i = 0; i < std::min(one.size(), two.size()); ++i)
      if (!equal(runtime, one[i], two[i])) return ordered(runtime, one[i], two[i], or_equal);
    return or_equal ? one.size() <= two.size() : one.size() < two.size();
  }
  runtime.fail("'{}' not supported between instances of '{}' and '{}'", or_equal ? "<=" : "<",
               type_name(left), type_name(right));
}

bool contains_text(Runtime& runtime, const Text& text, const Value& item) {
  if (!item.is_text())
    runtime.fail("'in <string>' requires string as left operand, not {}", type_name(item));
  runtime.step_bytes(text.bytes.size());
  return text.bytes.find(item.text().bytes) != std::string::npos;
}

}  // namespace

bool equal(Runtime& runtime, const Value& left, const Value& right) {
  runtime.step();
  if (left.is_number() && right.is_number()) return compare_numbers(left, right) == 0;
  if (left.is_text() && right.is_text()) {
    if (left.text().bytes.size() != right.text().bytes.size()) return false;
    runtime.step_bytes(left.text().bytes.size());
    return left.text().bytes == right.text().bytes;
  }
  const Runtime::Level level(runtime);
  if (left.is_sequence() && right.is_sequence())
    return equal_sequences(runtime, left.list(), right.list());
  if (left.is_dict() && right.is_dict()) return equal_dicts(runtime, left.dict(), right.dict());
  if (left.is_object() && right.is_object()) return equal_objects(left, right);
  if (left.is_undefined() && right.is_undefined()) return true;
  return left.is_none() && right.is_none();
}

bool less(Runtime& runtime, const Value& left, const Value& right) {
  return ordered(runtime, left, right, false);
}

bool less_or_equal(Runtime& runtime, const Value& left, const Value& right) {
  return ordered(runtime, left, right, true);
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  if (container.is_text()) return contains_text(runtime, container.text(), item);
  if (container.is_dict()) return container.dict().find(runtime, item) != nullptr;
  if (const auto* view = container.as<DictView>(); view && view->part() == DictView::Part::keys)
    return view->dict()->find(runtime, item) != nullptr;
  if (!is_iterable(container))
    runtime.fail("argument of type '{}' is not iterable", type_name(container));
  const IteratorRef iterator = iterate(runtime, container);
  for (Value value; iterator->next(value);)
    if (value.same_as(item) || equal(runtime, value, item)) return true;
  return false;
}

size_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

size_t hash_of(Runtime& runtime, const Value& value) {
  runtime.step();
  if (value.is_text()) {
    runtime.step_bytes(value.text().bytes.size());
    return hash_of(value.text().bytes);
  }
  if (const auto integer = value.integer()) return std::hash<int64_t>{}(*integer);
  if (value.is_float()) {
    const double real = value.real();
    const bool whole = std::abs(real) < 0x1p62 && real == std::trunc(real);
    return whole ? std::hash<int64_t>{}(static_cast<int64_t>(real)) : std::hash<double>{}(real);
  }
  if (value.is_tuple()) {
    size_t hash = value.items().size();
    for (const Value& item : value.items()) hash = hash * 1000003 ^ hash_of(runtime, item);
    return hash;
  }
  if (value.is_sequence() || value.is_dict())
    runtime.fail("unhashable type: '{}'", type_name(value));
  return value.is_object() ? std::hash<const void*>{}(&value.object()) : 0;
}

}  // namespace heed::jinja
