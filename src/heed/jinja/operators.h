#pragma once

#include "heed/jinja/parser/ast.h"
#include "heed/jinja/values/value.h"

namespace heed::jinja {

/// Python's binary operators: + - * / // % **. Throws Error for types that Python refuses, for a
/// division by zero, and for an int that does not fit into 64 bits (Python's grow instead).
Value binary(Runtime& runtime, ast::Op op, const Value& left, const Value& right);
Value negate(Runtime& runtime, const Value& value);
/// Python's unary +.
Value plus(Runtime& runtime, const Value& value);
/// Comparisons and "in".
bool compare(Runtime& runtime, ast::Op op, const Value& left, const Value& right);

/// `base` to the power of `exponent`, which is not negative.
int64_t integer_power(Runtime& runtime, int64_t base, int64_t exponent);
/// `value` as an int after truncation. Throws Error if it does not fit.
int64_t integer_of(Runtime& runtime, double value);

}  // namespace heed::jinja
