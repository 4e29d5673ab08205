#pragma once

#include <functional>
#include <set>
#include <string>

#include "heed/jinja/parser/ast.h"

namespace heed::jinja {

/// How a name occurs in a template.
enum class Use { load, store, parameter };
using VisitName = std::function<void(const ast::Expr& name, Use use)>;

/// Visits every name of an expression, in the order of jinja2's syntax tree.
void visit_names(const ast::Expr& expr, Use use, const VisitName& visit);
/// The same for statements and all that is inside of them.
void visit_names(const ast::Body& body, const VisitName& visit);
void visit_names(const ast::Statement& statement, const VisitName& visit);

/// Which of `names` are read in `body` before they are assigned there.
std::set<std::string> undeclared(const ast::Body& body, std::set<std::string> names);

}  // namespace heed::jinja
