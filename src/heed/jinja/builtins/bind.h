#pragma once

#include "heed/jinja/parser/ast.h"

namespace heed::jinja {

/// Decides where each variable of a parsed template lives, as jinja2's compiler does. Throws Error
/// at `name` and the line for an unknown filter or test (one inside of {% if %} fails only when it
/// is evaluated, as in jinja2) and for assignments to "loop".
void bind_variables(ast::Template& tree, const std::string& name);

}  // namespace heed::jinja
