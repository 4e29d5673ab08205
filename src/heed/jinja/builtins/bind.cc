#include "heed/jinja/builtins/bind.h"

#include "heed/base/quote.h"
#include "heed/jinja/budget.h"
#include "heed/jinja/parser/symbols.h"
#include "heed/jinja/values/names.h"

namespace heed::jinja {
namespace {

using ast::Expr;
using ast::ExprRef;

/// Tells a scope which names the statements directly in it load and store. What has a scope of its
/// own is left to that.
class Mentions {
 public:
  explicit Mentions(Symbols& symbols) : symbols_(symbols) {}

  void load(const ExprRef& expr) const {
    if (!expr) return;
    visit_names(*expr, Use::load, [&](const Expr& name, Use) { symbols_.load(name.name); });
  }
  void store(const Expr& target) const {
    if (target.kind == Expr::Kind::attribute_of) symbols_.load(target.name);
    if (target.kind == Expr::Kind::name) symbols_.store(target.name);
    for (const ExprRef& part : target.operands) store(*part);
  }
  void parameters(const Expr& target) const {
    visit_names(target, Use::parameter,
                [&](const Expr& name, Use) { symbols_.declare_parameter(name.name); });
  }
  void body(const ast::Body& body) const {
    for (const ast::Statement& statement : body) std::visit(*this, statement.node);
  }

  void operator()(const ast::Output& node) const { load(node.expr); }
  void operator()(const ast::Set& node) const {
    load(node.value);
    store(*node.target);
  }
  void operator()(const ast::SetBlock& node) const { store(*node.target); }
  void operator()(const ast::If& node) const {
    load(node.branches.front().first);
    std::vector<Symbols> branches;
    branches.push_back(branch(symbols_, node.branches.front().second));
    Symbols others = symbols_.branch();
    for (size_t i = 1; i < node.branches.size(); ++i) {
      Mentions(others).load(node.branches[i].first);
      others.merge({branch(others, node.branches[i].second)});
    }
    branches.push_back(std::move(others));
    branches.push_back(branch(symbols_, node.otherwise));
    symbols_.merge(branches);
  }
  void operator()(const ast::For& node) const { load(node.iterable); }
  void operator()(const ast::MacroStatement& node) const { store(*node.target); }
  void operator()(const ast::CallBlock& node) const { load(node.call); }
  void operator()(const ast::Generation& /*node*/) const {}
  void operator()(const ast::FilterBlock& node) const { load(node.filter); }
  void operator()(const ast::With& node) const {
    for (const auto& [target, value] : node.variables) load(value);
  }
  void operator()(const ast::Break& /*node*/) const {}
  void operator()(const ast::Continue& /*node*/) const {}

 private:
  static Symbols branch(const Symbols& symbols, const ast::Body& body) {
    Symbols result = symbols.branch();
    Mentions(result).body(body);
    return result;
  }

  Symbols& symbols_;
};

/// A copy of the target of an assignment.
ExprRef copy_target(const Expr& target) {
  auto copy = std::make_unique<Expr>();
  copy->kind = target.kind;
  copy->line = target.line;
  copy->name = target.name;
  for (const ExprRef& part : target.operands) copy->operands.push_back(copy_target(*part));
  return copy;
}

/// Gives every name in a scope its slot. `soft`: inside of an {% if %} of this scope.
class Binder {
 public:
  Binder(Symbols& symbols, const std::string& name, bool soft = false)
      : symbols_(symbols), name_(name), soft_(soft) {}

  void body(ast::Body& body) const {
    for (ast::Statement& statement : body) {
      const int line = statement.line;
      std::visit([&](auto& node) { bind(node, line); }, statement.node);
    }
  }

 private:
  [[noreturn]] void fail_at(int line, const std::string& message) const {
    SourceLocation{name_, line}.fail("{}", message);
  }
  Binder inside(Symbols& symbols) const { return {symbols, name_}; }

  void expr(const ExprRef& expr) const {
    if (expr) bind_expr(*expr);
  }
  void bind_expr(Expr& expr) const {
    using Kind = Expr::Kind;
    if (expr.kind == Kind::name || expr.kind == Kind::attribute_of) {
      symbols_.load(expr.name);  // mentioned already, but for the filter of a {% set %} block
      expr.slot = symbols_.slot_of(expr.name);
    }
    const bool named = expr.kind == Kind::filter || expr.kind == Kind::test;
    if (named && expr.builtin == nullptr && !soft_)
      fail_at(expr.line,
              fmt::format("No {} named {}.", expr.kind == Kind::filter ? "filter" : "test",
                          quoted(expr.name)));
    if (expr.kind == Kind::call) check_callee(*expr.operands.front());
    const Binder inner{symbols_, name_, soft_ || expr.kind == Kind::conditional};
    for (const ExprRef& part : expr.operands) inner.expr(part);
    for (const ExprRef& part : expr.arguments.positional) inner.expr(part);
    for (const auto& [key, part] : expr.arguments.keywords) inner.expr(part);
    inner.expr(expr.arguments.star);
    inner.expr(expr.arguments.double_star);
  }
  void check_callee(const Expr& callee) const {
    if (callee.kind != Expr::Kind::name || symbols_.is_assigned(callee.name)) return;
    for (const std::string_view name : {"lipsum", "cycler", "joiner"})
      if (callee.name == name)
        fail_at(callee.line, fmt::format("the function {} is not supported", name));
  }

  void bind(ast::Output& node, int /*line*/) const { expr(node.expr); }
  void bind(ast::Set& node, int /*line*/) const {
    expr(node.target);
    expr(node.value);
  }
  void bind(ast::SetBlock& node, int /*line*/) const {
    expr(node.target);
    Symbols inner(symbols_.function(), &symbols_);
    Mentions(inner).body(node.body);
    Mentions(inner).load(node.filter);
    const Binder binder = inside(inner);
    binder.expr(node.filter);
    binder.body(node.body);
    node.scope = inner.scope();
  }
  void bind(ast::If& node, int /*line*/) const {
    const Binder soft{symbols_, name_, true};
    for (auto& [condition, body] : node.branches) {
      soft.expr(condition);
      soft.body(body);
    }
    soft.body(node.otherwise);
  }

  void bind(ast::For& node, int /*line*/) const {
    expr(node.iterable);
    const auto check_loop = [&](const Expr& name, Use use) {
      if (use == Use::store && name.name == "loop")
        fail_at(name.line, "Can't assign to special loop variable in for-loop target");
    };
    visit_names(*node.target, Use::store, check_loop);
    visit_names(node.body, check_loop);
    visit_names(node.otherwise, check_loop);
    if (node.condition) bind_condition(node);
    bind_loop(node);
  }
  void bind_condition(ast::For& node) const {
    FunctionSymbols function{&symbols_.function()};
    Symbols inner(function, &symbols_);
    Mentions(inner).parameters(*node.target);
    Mentions(inner).load(node.condition);
    const Binder binder = inside(inner);
    node.condition_target = copy_target(*node.target);
    binder.expr(node.condition_target);
    binder.expr(node.condition);
    node.condition_scope = inner.scope();
    node.condition_function.n_slots = function.n_slots();
  }
  void bind_loop(ast::For& node) const {
    Symbols inner(symbols_.function(), &symbols_);
    if (!undeclared(node.body, {"loop"}).empty())
      node.loop_slot = inner.declare_parameter("loop").index;
    Mentions(inner).parameters(*node.target);
    Mentions(inner).body(node.body);
    const Binder binder = inside(inner);
    binder.expr(node.target);
    binder.body(node.body);
    node.scope = inner.scope();
    Symbols other(symbols_.function(), &symbols_);
    Mentions(other).body(node.otherwise);
    inside(other).body(node.otherwise);
    node.otherwise_scope = other.scope();
  }

  void bind_macro(ast::MacroBody& macro, int line) const {
    FunctionSymbols function{&symbols_.function()};
    Symbols inner(function, &symbols_);
    const Mentions mentions(inner);
    for (const ExprRef& target : macro.targets) mentions.parameters(*target);
    for (const ExprRef& value : macro.defaults) mentions.load(value);
    mentions.body(macro.body);
    bind_special_arguments(macro, inner, line);
    const Binder binder = inside(inner);
    for (const ExprRef& target : macro.targets) binder.expr(target);
    for (const ExprRef& value : macro.defaults) binder.expr(value);
    binder.body(macro.body);
    macro.scope = inner.scope();
    macro.function.n_slots = function.n_slots();
  }
  /// Variables that a macro has when it uses them: caller, kwargs and varargs.
  void bind_special_arguments(ast::MacroBody& macro, Symbols& inner, int line) const {
    const auto used = undeclared(macro.body, {"caller", "kwargs", "varargs"});
    const size_t required = macro.parameters.size() - macro.defaults.size();
    const auto position = [&](const char* name) {
      const auto& names = macro.parameters;
      return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    };
    const auto declare = [&](const char* name, int& slot) {
      if (used.contains(name) && position(name) == macro.parameters.size())
        slot = inner.declare_parameter(name).index;
    };
    macro.explicit_caller = position("caller") < macro.parameters.size();
    if (used.contains("caller") && position("caller") < required)
      fail_at(line, "the special \"caller\" argument must be omitted or be given a default");
    declare("caller", macro.caller);
    declare("kwargs", macro.kwargs);
    declare("varargs", macro.varargs);
  }

  void bind(ast::MacroStatement& node, int line) const {
    bind_macro(node.macro, line);
    expr(node.target);
  }
  void bind(ast::CallBlock& node, int line) const {
    bind_macro(node.macro, line);
    expr(node.call);
  }
  void bind(ast::Generation& node, int line) const { bind_macro(node.macro, line); }
  void bind(ast::FilterBlock& node, int /*line*/) const {
    Symbols inner(symbols_.function(), &symbols_);
    Mentions(inner).body(node.body);
    Mentions(inner).load(node.filter);
    const Binder binder = inside(inner);
    binder.body(node.body);
    binder.expr(node.filter);
    node.scope = inner.scope();
  }
  void bind(ast::With& node, int /*line*/) const {
    Symbols inner(symbols_.function(), &symbols_);
    for (const auto& [target, value] : node.variables) Mentions(inner).parameters(*target);
    Mentions(inner).body(node.body);
    const Binder binder = inside(inner);
    for (const auto& [target, value] : node.variables) {
      binder.expr(target);
      expr(value);
    }
    binder.body(node.body);
    node.scope = inner.scope();
  }
  void bind(ast::Break& /*node*/, int /*line*/) const {}
  void bind(ast::Continue& /*node*/, int /*line*/) const {}

  Symbols& symbols_;
  const std::string& name_;
  bool soft_;
};

}  // namespace

void bind_variables(ast::Template& tree, const std::string& name) {
  FunctionSymbols function;
  Symbols symbols(function, nullptr);
  Mentions(symbols).body(tree.body);
  Binder(symbols, name).body(tree.body);
  tree.scope = symbols.scope();
  tree.function.n_slots = function.n_slots();
}

}  // namespace heed::jinja
