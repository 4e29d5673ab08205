#pragma once

#include <cstddef>

#include "heed/jinja/values/value.h"

/// Comparisons with Python's semantics: numbers of all types compare by value, sequences element by
/// element. What Python does not order throws Error.
namespace heed::jinja {

bool equal(Runtime& runtime, const Value& left, const Value& right);
/// left < right
bool less(Runtime& runtime, const Value& left, const Value& right);
/// left <= right, which is not the contrary of right < left when one is NaN.
bool less_or_equal(Runtime& runtime, const Value& left, const Value& right);
/// item in container
bool contains(Runtime& runtime, const Value& container, const Value& item);
/// Equal for equal values. Throws Error for lists, dicts and what holds them.
size_t hash_of(Runtime& runtime, const Value& value);
size_t hash_of(std::string_view text);

}  // namespace heed::jinja
