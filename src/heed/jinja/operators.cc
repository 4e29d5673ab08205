#include "heed/jinja/operators.h"

#include <cmath>

#include "heed/jinja/runtime.h"
#include "heed/jinja/values/compare.h"
#include "heed/jinja/values/html.h"

namespace heed::jinja {
namespace {

using ast::Op;

const char* symbol(Op op) {
  switch (op) {
    case Op::add:
      return "+";
    case Op::subtract:
      return "-";
    case Op::multiply:
      return "*";
    case Op::divide:
      return "/";
    case Op::floor_divide:
      return "//";
    case Op::modulo:
      return "%";
    default:
      return "**";
  }
}

[[noreturn]] void fail_overflow(Runtime& runtime) {
  runtime.fail("the result of an operation does not fit into 64 bits");
}

/// Quotient rounded down and the remainder that goes with it.
std::pair<int64_t, int64_t> floor_divide(Runtime& runtime, int64_t left, int64_t right) {
  if (right == 0) runtime.fail("integer division or modulo by zero");
  if (right == -1) {
    if (left == std::numeric_limits<int64_t>::min()) fail_overflow(runtime);
    return {-left, 0};
  }
  int64_t quotient = left / right, remainder = left % right;
  if (remainder != 0 && (remainder < 0) != (right < 0)) {
    --quotient;
    remainder += right;
  }
  return {quotient, remainder};
}

/// The same for floats, as Python's float_divmod().
std::pair<double, double> floor_divide(Runtime& runtime, double left, double right) {
  if (right == 0) runtime.fail("float floor division or modulo by zero");
  double remainder = std::fmod(left, right);
  double quotient = (left - remainder) / right;
  if (remainder != 0) {
    if ((right < 0) != (remainder < 0)) {
      remainder += right;
      quotient -= 1;
    }
  } else {
    remainder = std::copysign(0.0, right);
  }
  if (quotient == 0) return {std::copysign(0.0, left / right), remainder};
  double whole = std::floor(quotient);
  if (quotient - whole > 0.5) whole += 1;
  return {whole, remainder};
}

Value integers(Runtime& runtime, Op op, int64_t left, int64_t right) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case Op::add:
      overflow = __builtin_add_overflow(left, right, &result);
      break;
    case Op::subtract:
      overflow = __builtin_sub_overflow(left, right, &result);
      break;
    case Op::multiply:
      overflow = __builtin_mul_overflow(left, right, &result);
      break;
    case Op::divide:
      if (right == 0) runtime.fail("division by zero");
      return Value(static_cast<double>(left) / static_cast<double>(right));
    case Op::floor_divide:
      return Value(floor_divide(runtime, left, right).first);
    case Op::modulo:
      return Value(floor_divide(runtime, left, right).second);
    default:
      if (right >= 0) return Value(integer_power(runtime, left, right));
      if (left == 0) runtime.fail("0.0 cannot be raised to a negative power");
      return Value(std::pow(static_cast<double>(left), static_cast<double>(right)));
  }
  if (overflow) fail_overflow(runtime);
  return Value(result);
}

double float_power(Runtime& runtime, double left, double right) {
  if (left == 0 && right < 0) runtime.fail("0.0 cannot be raised to a negative power");
  if (left < 0 && std::isfinite(left) && std::isfinite(right) && right != std::floor(right))
    runtime.fail("a negative number to a fractional power is complex, which is not supported");
  const double result = std::pow(left, right);
  if (std::isinf(result) && std::isfinite(left) && std::isfinite(right))
    runtime.fail("the result of ** is out of range");
  return result;
}

Value floats(Runtime& runtime, Op op, double left, double right) {
  switch (op) {
    case Op::add:
      return Value(left + right);
    case Op::subtract:
      return Value(left - right);
    case Op::multiply:
      return Value(left * right);
    case Op::divide:
      if (right == 0) runtime.fail("float division by zero");
      return Value(left / right);
    case Op::floor_divide:
      return Value(floor_divide(runtime, left, right).first);
    case Op::modulo:
      return Value(floor_divide(runtime, left, right).second);
    default:
      return Value(float_power(runtime, left, right));
  }
}

Value join_texts(Runtime& runtime, const Value& left, const Value& right) {
  const bool markup = left.text().markup || right.text().markup;
  runtime.step_bytes(left.text().bytes.size() + right.text().bytes.size());
  TextBuilder out(runtime.values);
  append_part(out, left.text(), markup);
  append_part(out, right.text(), markup);
  return runtime.text(out.finish(markup));
}

Value join_sequences(Runtime& runtime, const List& left, const List& right) {
  const Charge charge(runtime.values, (left.items.size() + right.items.size()) * sizeof(Value));
  std::vector<Value> items;
  items.reserve(left.items.size() + right.items.size());
  items.insert(items.end(), left.items.begin(), left.items.end());
  items.insert(items.end(), right.items.begin(), right.items.end());
  return runtime.list(std::move(items), left.tuple);
}

/// A text or sequence `count` times.
Value repeat(Runtime& runtime, const Value& value, int64_t count) {
  const auto times = static_cast<size_t>(std::max<int64_t>(count, 0));
  const size_t size =
      value.is_text() ? value.text().bytes.size() : value.items().size() * sizeof(Value);
  size_t total = 0;
  if (__builtin_mul_overflow(size, times, &total)) total = std::numeric_limits<size_t>::max();
  const Charge charge(runtime.values, total);  // throws before anything is made
  runtime.step_bytes(total);
  if (value.is_text()) {
    TextBuilder out(runtime.values);
    for (size_t i = 0; i < times && size > 0; ++i) out.append(value.text());
    return runtime.text(out.finish(value.text().markup));
  }
  std::vector<Value> items;
  for (size_t i = 0; i < times && size > 0; ++i)
    items.insert(items.end(), value.items().begin(), value.items().end());
  return runtime.list(std::move(items), value.is_tuple());
}

bool can_repeat(const Value& value) { return value.is_text() || value.is_sequence(); }

}  // namespace

int64_t integer_power(Runtime& runtime, int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (exponent > 0) {
    runtime.step();
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) fail_overflow(runtime);
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) fail_overflow(runtime);
  }
  return result;
}

int64_t integer_of(Runtime& runtime, double value) {
  if (!(std::abs(value) < 0x1p63)) fail_overflow(runtime);
  return static_cast<int64_t>(value);
}

Value binary(Runtime& runtime, Op op, const Value& left, const Value& right) {
  if (left.is_text() && op == Op::modulo)
    runtime.fail("the operator % of a string is not supported");
  if (left.is_undefined()) fail_undefined(runtime, left);
  if (right.is_undefined()) fail_undefined(runtime, right);
  const auto one = left.integer(), two = right.integer();
  if (one && two) return integers(runtime, op, *one, *two);
  if (left.is_number() && right.is_number())
    return floats(runtime, op, *left.number(), *right.number());
  if (op == Op::add && left.is_text() && right.is_text()) return join_texts(runtime, left, right);
  if (op == Op::add && left.is_sequence() && right.is_sequence() &&
      left.is_tuple() == right.is_tuple())
    return join_sequences(runtime, left.list(), right.list());
  if (op == Op::multiply && can_repeat(left) && two) return repeat(runtime, left, *two);
  if (op == Op::multiply && can_repeat(right) && one) return repeat(runtime, right, *one);
  runtime.fail("unsupported operand type(s) for {}: '{}' and '{}'", symbol(op), type_name(left),
               type_name(right));
}

Value negate(Runtime& runtime, const Value& value) {
  if (value.is_float()) return Value(-value.real());
  if (const auto integer = value.integer()) return integers(runtime, Op::subtract, 0, *integer);
  if (value.is_undefined()) fail_undefined(runtime, value);
  runtime.fail("bad operand type for unary -: '{}'", type_name(value));
}

Value plus(Runtime& runtime, const Value& value) {
  if (value.is_float()) return value;
  if (const auto integer = value.integer()) return Value(*integer);
  if (value.is_undefined()) fail_undefined(runtime, value);
  runtime.fail("bad operand type for unary +: '{}'", type_name(value));
}

bool compare(Runtime& runtime, Op op, const Value& left, const Value& right) {
  switch (op) {
    case Op::equal:
      return equal(runtime, left, right);
    case Op::not_equal:
      return !equal(runtime, left, right);
    case Op::less:
      return less(runtime, left, right);
    case Op::less_equal:
      return less_or_equal(runtime, left, right);
    case Op::greater:
      return less(runtime, right, left);
    case Op::greater_equal:
      return less_or_equal(runtime, right, left);
    case Op::in:
      return contains(runtime, right, left);
    default:
      return !contains(runtime, right, left);
  }
}

}  // namespace heed::jinja
