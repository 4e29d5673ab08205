#include "heed/jinja/values/names.h"

namespace heed::jinja {
namespace {

using ast::ExprRef;

void visit_optional(const ExprRef& expr, Use use, const VisitName& visit) {
  if (expr) visit_names(*expr, use, visit);
}

/// Calls the visitor for what each kind of statement contains.
struct StatementNames {
  const VisitName& visit;

  void load(const ExprRef& expr) const { visit_optional(expr, Use::load, visit); }
  void macro(const ast::MacroBody& macro) const {
    for (const ExprRef& target : macro.targets) visit_names(*target, Use::parameter, visit);
    for (const ExprRef& value : macro.defaults) load(value);
    visit_names(macro.body, visit);
  }

  void operator()(const ast::Output& node) const { load(node.expr); }
  void operator()(const ast::Set& node) const {
    visit_names(*node.target, Use::store, visit);
    load(node.value);
  }
  void operator()(const ast::SetBlock& node) const {
    visit_names(*node.target, Use::store, visit);
    load(node.filter);
    visit_names(node.body, visit);
  }
  void operator()(const ast::If& node) const {
    for (const auto& [condition, body] : node.branches) {
      load(condition);
      visit_names(body, visit);
    }
    visit_names(node.otherwise, visit);
  }
  void operator()(const ast::For& node) const {
    visit_names(*node.target, Use::store, visit);
    load(node.iterable);
    visit_names(node.body, visit);
    visit_names(node.otherwise, visit);
    load(node.condition);
  }
  void operator()(const ast::MacroStatement& node) const { macro(node.macro); }
  void operator()(const ast::CallBlock& node) const {
    load(node.call);
    macro(node.macro);
  }
  void operator()(const ast::Generation& node) const { macro(node.macro); }
  void operator()(const ast::FilterBlock& node) const {
    visit_names(node.body, visit);
    load(node.filter);
  }
  void operator()(const ast::With& node) const {
    for (const auto& [target, value] : node.variables) visit_names(*target, Use::parameter, visit);
    for (const auto& [target, value] : node.variables) load(value);
    visit_names(node.body, visit);
  }
  void operator()(const ast::Break& /*node*/) const {}
  void operator()(const ast::Continue& /*node*/) const {}
};

}  // namespace

void visit_names(const ast::Expr& expr, Use use, const VisitName& visit) {
  if (expr.kind == ast::Expr::Kind::name) visit(expr, use);
  for (const ExprRef& part : expr.operands) visit_optional(part, use, visit);
  for (const ExprRef& part : expr.arguments.positional) visit_optional(part, use, visit);
  for (const auto& [key, part] : expr.arguments.keywords) visit_optional(part, use, visit);
  visit_optional(expr.arguments.star, use, visit);
  visit_optional(expr.arguments.double_star, use, visit);
}

void visit_names(const ast::Statement& statement, const VisitName& visit) {
  std::visit(StatementNames{visit}, statement.node);
}

void visit_names(const ast::Body& body, const VisitName& visit) {
  for (const ast::Statement& statement : body) visit_names(statement, visit);
}

std::set<std::string> undeclared(const ast::Body& body, std::set<std::string> names) {
  std::set<std::string> found;
  visit_names(body, [&](const ast::Expr& name, Use use) {
    if (use != Use::load)
      names.erase(name.name);
    else if (names.contains(name.name))
      found.insert(name.name);
  });
  return found;
}

}  // namespace heed::jinja
