#include <cmath>

#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/operators.h"
#include "heed/jinja/values/numbers.h"

namespace heed::jinja {
namespace {

Value to_float(Call& call) {
  const Value& self = call.self;
  if (self.is_undefined()) fail_undefined(call.runtime, self);
  const auto number = self.is_text() ? parse_float(self.text().bytes) : self.number();
  if (number) return Value(*number);
  return call.has(0) ? *call.values[0] : Value(0.0);
}

Value to_int(Call& call) {
  const Value& self = call.self;
  if (self.is_undefined()) fail_undefined(call.runtime, self);
  const auto integer = self.is_text()
                           ? parse_integer(self.text().bytes, static_cast<int>(call.integer(1, 10)))
                           : self.integer();
  if (integer) return Value(*integer);
  const auto number = self.is_text() ? parse_float(self.text().bytes) : self.number();
  if (self.is_float() && std::isinf(self.real()))
    call.runtime.fail("cannot convert float infinity to integer");
  if (number && std::isfinite(*number)) return Value(integer_of(call.runtime, *number));
  return call.has(0) ? *call.values[0] : Value(int64_t{0});
}

Value absolute(Call& call) {
  const Value& self = call.self;
  if (self.is_float()) return Value(std::abs(self.real()));
  if (self.is_undefined()) fail_undefined(call.runtime, self);
  const auto integer = self.integer();
  if (!integer) call.runtime.fail("bad operand type for abs(): '{}'", type_name(self));
  return *integer < 0 ? jinja::negate(call.runtime, self) : Value(*integer);
}

/// The double nearest to `value` with so many decimals, as Python's round() finds it: from the
/// exact decimal expansion, halves to even.
double rounded(Runtime& runtime, double value, int64_t decimals) {
  if (!std::isfinite(value) || decimals > 323) return value;
  if (decimals >= 0) {
    const std::string digits = fmt::format("{:.{}f}", value, decimals);
    return std::strtod(digits.c_str(), nullptr);
  }
  if (decimals < -308) return std::copysign(0.0, value);
  const double unit = std::pow(10.0, static_cast<double>(-decimals));
  const double result = std::nearbyint(value / unit) * unit;
  if (!std::isfinite(result)) runtime.fail("the rounded value is too large");
  return result;
}

int64_t rounded(Runtime& runtime, int64_t value, int64_t decimals) {
  if (decimals >= 0) return value;
  if (decimals < -18) return 0;
  const int64_t unit = integer_power(runtime, 10, -decimals);
  const int64_t below = value / unit * unit, rest = std::abs(value - below);
  const bool up = rest * 2 > unit || (rest * 2 == unit && (below / unit) % 2 != 0);
  int64_t result = below;
  if (up && __builtin_add_overflow(below, value < 0 ? -unit : unit, &result))
    runtime.fail("the rounded value does not fit into 64 bits");
  return result;
}

Value round_number(Call& call) {
  const Value& self = call.self;
  const std::string method = call.has(1) ? call.text(1).bytes : "common";
  if (method != "common" && method != "ceil" && method != "floor")
    call.runtime.fail("method must be common, ceil or floor");
  if (self.is_undefined()) fail_undefined(call.runtime, self);
  const int64_t decimals = call.integer(0, 0);
  if (!self.is_number())
    call.runtime.fail("type {} doesn't define __round__ method", type_name(self));
  if (method == "common") {
    if (const auto integer = self.integer())
      return Value(rounded(call.runtime, *integer, decimals));
    return Value(rounded(call.runtime, self.real(), decimals));
  }
  const Value factor = binary(call.runtime, ast::Op::power, Value(int64_t{10}), Value(decimals));
  const Value scaled = binary(call.runtime, ast::Op::multiply, self, factor);
  const double number = *scaled.number();
  if (!std::isfinite(number)) call.runtime.fail("cannot convert float infinity or NaN to integer");
  const int64_t whole =
      integer_of(call.runtime, method == "ceil" ? std::ceil(number) : std::floor(number));
  return binary(call.runtime, ast::Op::divide,
                scaled.is_float() ? Value(whole) : Value(*scaled.integer()), factor);
}

constexpr Builtin kNumberFilters[] = {
    {"int", "default? base?", to_int},
    {"float", "default?", to_float},
    {"abs", "", absolute},
    {"round", "precision? method?", round_number},
};

}  // namespace

Builtins number_filters() { return kNumberFilters; }

}  // namespace heed::jinja
