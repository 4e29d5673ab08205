#include <functional>

#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/operators.h"
#include "heed/jinja/values/case.h"
#include "heed/jinja/values/compare.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {
namespace {

using ast::Op;

/// A function or a member function without arguments.
template <auto holds>
Value check(Call& call) {
  return Value(std::invoke(holds, call.self));
}

template <Op op>
Value compared(Call& call) {
  return Value(compare(call.runtime, op, call.self, *call.values[0]));
}

/// self % divisor == remainder
Value has_remainder(Call& call, const Value& divisor, int64_t remainder) {
  const Value rest = binary(call.runtime, Op::modulo, call.self, divisor);
  return Value(equal(call.runtime, rest, Value(remainder)));
}
Value is_odd(Call& call) { return has_remainder(call, Value(int64_t{2}), 1); }
Value is_even(Call& call) { return has_remainder(call, Value(int64_t{2}), 0); }
Value is_divisible(Call& call) { return has_remainder(call, *call.values[0], 0); }

bool is_defined(const Value& value) { return !value.is_undefined(); }
bool is_true_value(const Value& value) { return value.is_bool() && value.boolean(); }
bool is_false_value(const Value& value) { return value.is_bool() && !value.boolean(); }
bool is_sequence_value(const Value& value) {
  return value.is_text() || value.is_sequence() || value.is_dict() || value.is_undefined() ||
         value.as<Range>() != nullptr;
}
bool is_callable(const Value& value) {
  return value.is_undefined() || value.as<Callable>() != nullptr;
}
bool is_escaped(const Value& value) { return value.is_text() && value.text().markup; }

Value is_lower_case(Call& call) {
  return Value(has_case(str_of(call.runtime, call.self).text(), Case::lower));
}
Value is_upper_case(Call& call) {
  return Value(has_case(str_of(call.runtime, call.self).text(), Case::upper));
}
Value is_same(Call& call) { return Value(call.self.same_as(*call.values[0])); }
/// The name that the input is, if it can be one.
std::string_view name_of(const Call& call) {
  hash_of(call.runtime, call.self);  // as Python, fails for what is not hashable
  return call.self.is_text() ? std::string_view(call.self.text().bytes) : std::string_view();
}
Value is_filter(Call& call) { return Value(find_filter(name_of(call)) != nullptr); }
Value is_test(Call& call) { return Value(find_test(name_of(call)) != nullptr); }

constexpr Builtin kTests[] = {
    {"defined", "", check<is_defined>},
    {"undefined", "", check<&Value::is_undefined>},
    {"none", "", check<&Value::is_none>},
    {"boolean", "", check<&Value::is_bool>},
    {"true", "", check<is_true_value>},
    {"false", "", check<is_false_value>},
    {"integer", "", check<&Value::is_int>},
    {"float", "", check<&Value::is_float>},
    {"number", "", check<&Value::is_number>},
    {"string", "", check<&Value::is_text>},
    {"mapping", "", check<&Value::is_dict>},
    {"sequence", "", check<is_sequence_value>},
    {"iterable", "", check<is_iterable>},
    {"callable", "", check<is_callable>},
    {"escaped", "", check<is_escaped>},
    {"odd", "", is_odd},
    {"even", "", is_even},
    {"divisibleby", "num", is_divisible},
    {"lower", "", is_lower_case},
    {"upper", "", is_upper_case},
    {"sameas", "other", is_same},
    {"filter", "", is_filter},
    {"test", "", is_test},
    {"in", "seq", compared<Op::in>},
    {"==", "/b", compared<Op::equal>},
    {"eq", "/b", compared<Op::equal>},
    {"equalto", "/b", compared<Op::equal>},
    {"!=", "/b", compared<Op::not_equal>},
    {"ne", "/b", compared<Op::not_equal>},
    {"<", "/b", compared<Op::less>},
    {"lt", "/b", compared<Op::less>},
    {"lessthan", "/b", compared<Op::less>},
    {"<=", "/b", compared<Op::less_equal>},
    {"le", "/b", compared<Op::less_equal>},
    {">", "/b", compared<Op::greater>},
    {"gt", "/b", compared<Op::greater>},
    {"greaterthan", "/b", compared<Op::greater>},
    {">=", "/b", compared<Op::greater_equal>},
    {"ge", "/b", compared<Op::greater_equal>},
};

}  // namespace

const Builtin* find_test(std::string_view name) { return find_in(kTests, name); }

}  // namespace heed::jinja
