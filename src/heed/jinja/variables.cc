#include <algorithm>

#include "heed/base/quote.h"
#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/capture.h"
#include "heed/jinja/interpreter.h"

namespace heed::jinja {

Value& Interpreter::variable(const ast::Slot& slot) {
  Activation* activation = current_.get();
  for (int i = 0; i < slot.hops; ++i) activation = activation->outer.get();
  return activation->slots[static_cast<size_t>(slot.index)];
}

Value Interpreter::from_context(const std::string& name) {
  if (const Value* found = context_.find(name)) return *found;
  const Builtin* function = find_function(name);
  if (function == nullptr) return {};
  return runtime_.object(std::make_shared<BoundBuiltin>(*function, Value::none()));
}

void Interpreter::enter(const ast::Scope& scope) {
  using enum ast::Load::From;
  for (const ast::Load& load : scope) {
    if (load.from == context) variable(load.slot) = from_context(load.name);
    if (load.from == outer) variable(load.slot) = Value(variable(load.outer));
    if (load.from == nothing) variable(load.slot) = Value();
  }
}

void Interpreter::leave(const ast::Scope& scope) {
  for (const ast::Load& load : scope) variable(load.slot) = Value();
}

/// As in jinja2, this is checked before the value is evaluated.
void Interpreter::check_namespaces(const ast::Expr& target) {
  if (target.kind == ast::Expr::Kind::attribute_of &&
      variable(target.slot).as<Namespace>() == nullptr)
    runtime_.fail("cannot assign attribute on non-namespace object");
  for (const ast::ExprRef& part : target.operands) check_namespaces(*part);
}

void Interpreter::assign(const ast::Expr& target, const Value& value) {
  runtime_.step();
  if (target.kind == ast::Expr::Kind::name) {
    variable(target.slot) = value;
  } else if (target.kind == ast::Expr::Kind::attribute_of) {
    if (target.attribute.starts_with('_'))
      runtime_.fail("a namespace cannot have the attribute {}", quoted(target.attribute));
    auto* space = variable(target.slot).as<Namespace>();
    if (space == nullptr) runtime_.fail("cannot assign attribute on non-namespace object");
    space->attributes.set(runtime_, runtime_.text(target.attribute), value);
  } else {
    const std::vector<Value> items = items_of(runtime_, value);
    if (items.size() != target.operands.size())
      runtime_.fail("cannot unpack {} values into {} variables", items.size(),
                    target.operands.size());
    for (size_t i = 0; i < items.size(); ++i) assign(*target.operands[i], items[i]);
  }
}

/// What jinja2's test of a loop passes on: a tuple for a target of several names.
Value Interpreter::unpacked(const ast::Expr& target, const Value& value) {
  if (target.kind != ast::Expr::Kind::tuple) return value;
  std::vector<Value> items = items_of(runtime_, value);
  for (size_t i = 0; i < items.size(); ++i) items[i] = unpacked(*target.operands[i], items[i]);
  return runtime_.tuple(std::move(items));
}

Value Interpreter::make_macro(const ast::MacroBody& body) {
  if (!std::exchange(current_->kept, true)) runtime_.keep(current_);
  return runtime_.object(std::make_shared<Macro>(*this, body, current_));
}

Value Macro::call(Runtime& /*runtime*/, Arguments& arguments) {
  return interpreter_.call_macro(*this, arguments);
}

Value Macro::attribute(Runtime& runtime, std::string_view name) const {
  if (name == "name") return body_.name.empty() ? Value::none() : runtime.text(body_.name);
  if (name == "catch_kwargs") return Value(body_.kwargs >= 0);
  if (name == "catch_varargs") return Value(body_.varargs >= 0);
  if (name == "caller") return Value(body_.caller >= 0 || body_.explicit_caller);
  if (name != "arguments") return {};
  std::vector<Value> names;
  for (const std::string& parameter : body_.parameters) names.push_back(runtime.text(parameter));
  return runtime.tuple(std::move(names));
}

Value Interpreter::call_macro(const Macro& macro, Arguments& arguments) {
  const Runtime::Level level(runtime_);
  const ast::MacroBody& body = macro.body();
  const ActivationScope entered(*this, macro.outer(), body.function);
  const int line = runtime_.location.line;
  Capture capture(*this);
  set_arguments(body, arguments);
  enter(body.scope);
  const size_t required = body.parameters.size() - body.defaults.size();
  for (size_t i = 0; i < body.parameters.size(); ++i) {
    Value& value = variable(body.targets[i]->slot);
    if (!value.is_missing()) continue;
    value = i < required ? Value::undefined(fmt::format("parameter {} was not provided",
                                                        quoted(body.parameters[i])))
                         : evaluate(*body.defaults[i - required]);
  }
  run(body.body);
  runtime_.location.line = line;
  return capture.finish();
}

/// Gives the parameters and the special variables of a macro their values; parameters without an
/// argument stay missing.
void Interpreter::set_arguments(const ast::MacroBody& body, Arguments& arguments) {
  const size_t given = std::min(arguments.positional.size(), body.parameters.size());
  auto& slots = current_->slots;
  const auto take_keyword = [&](std::string_view name, Value& value) {
    auto& keywords = arguments.keywords;
    const auto found = std::find_if(keywords.begin(), keywords.end(),
                                    [&](const auto& keyword) { return keyword.first == name; });
    if (found == keywords.end()) return;
    value = found->second;
    keywords.erase(found);
  };
  for (size_t i = 0; i < body.parameters.size(); ++i) {
    Value& value = variable(body.targets[i]->slot);
    if (i < given)
      value = arguments.positional[i];
    else
      take_keyword(body.parameters[i], value);
  }
  if (body.caller >= 0) {
    Value& caller = slots[static_cast<size_t>(body.caller)];
    take_keyword("caller", caller);
    if (caller.is_missing() || caller.is_none()) caller = Value::undefined("No caller defined");
  }
  if (body.kwargs >= 0) {
    Dict rest;
    for (auto& [name, value] : arguments.keywords) rest.set(runtime_, runtime_.text(name), value);
    slots[static_cast<size_t>(body.kwargs)] = runtime_.dict(std::move(rest));
  } else if (!arguments.keywords.empty()) {
    runtime_.fail("macro {} takes no keyword argument {}", quoted(body.name),
                  quoted(arguments.keywords.front().first));
  }
  if (body.varargs >= 0)
    slots[static_cast<size_t>(body.varargs)] =
        runtime_.tuple({arguments.positional.begin() + static_cast<std::ptrdiff_t>(given),
                        arguments.positional.end()});
  else if (arguments.positional.size() > given)
    runtime_.fail("macro {} takes not more than {} argument(s)", quoted(body.name), given);
}

}  // namespace heed::jinja
