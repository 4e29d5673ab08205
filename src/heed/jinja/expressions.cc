#include "heed/base/quote.h"
#include "heed/jinja/builtins/attributes.h"
#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/interpreter.h"
#include "heed/jinja/operators.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {

using ast::Expr;

Value Interpreter::evaluate(const Expr& expr) {
  runtime_.step();
  if (expr.kind == Expr::Kind::constant) return expr.value;
  if (expr.kind == Expr::Kind::name) {
    const Value& value = variable(expr.slot);
    return value.is_missing() ? expr.value : value;
  }
  const Runtime::Level level(runtime_);
  return evaluate_operation(expr);
}

Value Interpreter::evaluate_operation(const Expr& expr) {
  const auto operand = [&](size_t i) { return evaluate(*expr.operands[i]); };
  // Errors of an operation, other than those of its operands, are at its own line.
  const auto here = [&] { runtime_.location.line = expr.line; };
  switch (expr.kind) {
    case Expr::Kind::tuple:
    case Expr::Kind::list:
      return runtime_.list(evaluate_all(expr.operands), expr.kind == Expr::Kind::tuple);
    case Expr::Kind::dict:
      return evaluate_dict(expr);
    case Expr::Kind::negate: {
      const Value value = operand(0);
      here();
      return jinja::negate(runtime_, value);
    }
    case Expr::Kind::plus: {
      const Value value = operand(0);
      here();
      return jinja::plus(runtime_, value);
    }
    case Expr::Kind::not_:
      return Value(!is_true(expr.operands[0]));
    case Expr::Kind::binary: {
      const Value left = operand(0), right = operand(1);
      here();
      return binary(runtime_, expr.ops[0], left, right);
    }
    case Expr::Kind::and_: {
      Value left = operand(0);
      return jinja::is_true(runtime_, left) ? operand(1) : left;
    }
    case Expr::Kind::or_: {
      Value left = operand(0);
      return jinja::is_true(runtime_, left) ? left : operand(1);
    }
    case Expr::Kind::compare:
      return evaluate_comparison(expr);
    case Expr::Kind::concat:
      return evaluate_concat(expr);
    case Expr::Kind::conditional:
      return evaluate_conditional(expr);
    case Expr::Kind::attribute: {
      const Value value = operand(0);
      here();
      return get_attribute(runtime_, value, expr.name);
    }
    case Expr::Kind::item: {
      const Value value = operand(0), key = operand(1);
      here();
      return get_item(runtime_, value, key);
    }
    case Expr::Kind::slice:
      return evaluate_slice(expr);
    case Expr::Kind::call:
      return evaluate_call(expr);
    default:
      return evaluate_builtin(expr, operand(0));
  }
}

std::vector<Value> Interpreter::evaluate_all(const std::vector<ast::ExprRef>& exprs) {
  std::vector<Value> values;
  values.reserve(exprs.size());
  for (const ast::ExprRef& expr : exprs) values.push_back(evaluate(*expr));
  return values;
}

Value Interpreter::evaluate_dict(const Expr& expr) {
  Dict dict;
  for (size_t i = 0; i < expr.operands.size(); i += 2) {
    Value key = evaluate(*expr.operands[i]);
    Value value = evaluate(*expr.operands[i + 1]);
    runtime_.location.line = expr.line;
    dict.set(runtime_, std::move(key), std::move(value));
  }
  return runtime_.dict(std::move(dict));
}

Value Interpreter::evaluate_comparison(const Expr& expr) {
  Value left = evaluate(*expr.operands[0]);
  for (size_t i = 0; i < expr.ops.size(); ++i) {
    Value right = evaluate(*expr.operands[i + 1]);
    runtime_.location.line = expr.line;
    if (!compare(runtime_, expr.ops[i], left, right)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value Interpreter::evaluate_concat(const Expr& expr) {
  const std::vector<Value> parts = evaluate_all(expr.operands);
  TextBuilder out(runtime_.values);
  for (const Value& part : parts) append_str(runtime_, out, part);
  return runtime_.text(out.finish());
}

Value Interpreter::evaluate_conditional(const Expr& expr) {
  if (is_true(expr.operands[0])) return evaluate(*expr.operands[1]);
  if (expr.operands[2]) return evaluate(*expr.operands[2]);
  return Value::undefined(
      "the inline if-expression evaluated to false and no else section was defined");
}

Value Interpreter::evaluate_slice(const Expr& expr) {
  const Value value = evaluate(*expr.operands[0]);
  const auto bound = [&](size_t i) {
    return expr.operands[i] ? evaluate(*expr.operands[i]) : Value::none();
  };
  Bounds bounds;
  bounds.start = bound(1);
  bounds.stop = bound(2);
  bounds.step = bound(3);
  runtime_.location.line = expr.line;
  return get_slice(runtime_, value, bounds);
}

Arguments Interpreter::evaluate_arguments(const ast::CallArguments& written) {
  Arguments arguments{.positional = evaluate_all(written.positional), .keywords = {}};
  for (const auto& [name, expr] : written.keywords)
    arguments.keywords.emplace_back(name, evaluate(*expr));
  if (written.star)
    for (Value& value : items_of(runtime_, evaluate(*written.star)))
      arguments.positional.push_back(std::move(value));
  if (!written.double_star) return arguments;
  const Value more = evaluate(*written.double_star);
  if (!more.is_dict()) runtime_.fail("argument after ** must be a mapping");
  for (const auto& [key, value] : more.dict().entries()) {
    if (!key.is_text()) runtime_.fail("keywords must be strings");
    if (arguments.keyword(key.text().bytes) != nullptr)
      runtime_.fail("got multiple values for keyword argument {}", quoted(key.text().bytes));
    arguments.keywords.emplace_back(key.text().bytes, value);
  }
  return arguments;
}

/// A filter or a test.
Value Interpreter::evaluate_builtin(const Expr& expr, const Value& input) {
  Arguments arguments = evaluate_arguments(expr.arguments);
  runtime_.location.line = expr.line;
  const bool is_filter = expr.kind == Expr::Kind::filter;
  if (expr.builtin == nullptr)
    runtime_.fail("No {} named {}.", is_filter ? "filter" : "test", quoted(expr.name));
  return invoke(runtime_, *expr.builtin, input, arguments);
}

Value Interpreter::filter_text(const Expr& filter, const Value& text) {
  const ast::ExprRef& input = filter.operands[0];
  return evaluate_builtin(filter, input ? filter_text(*input, text) : text);
}

Value Interpreter::evaluate_call(const Expr& expr, const Value* caller) {
  const Value callee = evaluate(*expr.operands[0]);
  Arguments arguments = evaluate_arguments(expr.arguments);
  runtime_.location.line = expr.line;
  if (caller != nullptr) {
    if (arguments.keyword("caller") != nullptr)
      runtime_.fail("got multiple values for keyword argument 'caller'");
    arguments.keywords.emplace_back("caller", *caller);
  }
  if (callee.is_undefined()) fail_undefined(runtime_, callee);
  auto* callable = callee.as<Callable>();
  if (callable == nullptr) runtime_.fail("'{}' object is not callable", type_name(callee));
  return callable->call(runtime_, arguments);
}

}  // namespace heed::jinja
