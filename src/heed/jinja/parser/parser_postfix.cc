#include "heed/base/quote.h"
#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/parser/parser.h"

/// What follows an operand: attributes, items, calls, filters and tests.
namespace heed::jinja {

using ast::Expr;
using ast::ExprRef;
using Kind = ast::Expr::Kind;

ExprRef Parser::postfix(ExprRef expr) {
  while (true) {
    if (current().is_op(".") || current().is_op("["))
      expr = subscript(std::move(expr));
    else if (current().is_op("("))
      expr = call(std::move(expr));
    else
      return expr;
  }
}

ExprRef Parser::subscript(ExprRef target) {
  const Token& token = advance();
  const int line = token.line;
  if (token.is_op(".")) {
    const Token& attribute = advance();
    if (attribute.kind == Token::Kind::name)
      return node(Kind::attribute, line, operands(std::move(target)), attribute.text);
    if (attribute.kind != Token::Kind::integer) fail_at(attribute.line, "expected name or number");
    return node(Kind::item, line,
                operands(std::move(target), constant(Value(attribute.integer), attribute.line)));
  }
  std::vector<ExprRef> parts;
  bool is_tuple = false;
  while (!current().is_op("]")) {
    if (!parts.empty()) {
      expect_op(",");
      is_tuple = true;
    }
    ExprRef part = current().is_op(":") ? nullptr : expression();
    if (current().is_op(":")) {
      if (is_tuple) fail_at(line, "a slice among several indices is not supported");
      return slice(std::move(target), std::move(part), line);
    }
    parts.push_back(std::move(part));
  }
  expect_op("]");
  ExprRef index =
      parts.size() == 1 ? std::move(parts.front()) : node(Kind::tuple, line, std::move(parts));
  return node(Kind::item, line, operands(std::move(target), std::move(index)));
}

ExprRef Parser::slice(ExprRef target, ExprRef start, int line) {
  std::vector<ExprRef> parts = operands(std::move(target));
  parts.push_back(std::move(start));
  while (parts.size() < 4) {
    const bool more = skip_op(":");
    const bool given = more && !current().is_op(":") && !current().is_op("]");
    parts.push_back(given ? expression() : nullptr);
  }
  expect_op("]");
  return node(Kind::slice, line, std::move(parts));
}

ExprRef Parser::filters_tests_calls(ExprRef expr) {
  while (true) {
    if (current().is_op("|"))
      expr = filter_chain(std::move(expr));
    else if (current().is_name("is"))
      expr = test(std::move(expr));
    else if (current().is_op("("))
      expr = call(std::move(expr));
    else
      return expr;
  }
}

std::string Parser::dotted_name() {
  std::string name = expect_name();
  while (skip_op(".")) name += "." + expect_name();
  return name;
}

ExprRef Parser::filter(ExprRef input) {
  auto expr = std::make_unique<Expr>();
  expr->kind = Kind::filter;
  expr->line = current().line;
  expr->name = dotted_name();
  if (is_unsupported_filter(expr->name))
    fail_at(expr->line, "the filter {} is not supported", quoted(expr->name));
  expr->builtin = find_filter(expr->name);
  expr->operands.push_back(std::move(input));
  if (current().is_op("(")) expr->arguments = call_arguments();
  return finished(std::move(expr));
}

ExprRef Parser::filter_chain(ExprRef input) {
  while (skip_op("|")) input = filter(std::move(input));
  return input;
}

ExprRef Parser::test(ExprRef input) {
  const int line = advance().line;
  const bool negated = skip_name("not");
  auto expr = std::make_unique<Expr>();
  expr->kind = Kind::test;
  expr->line = line;
  expr->name = dotted_name();
  expr->builtin = find_test(expr->name);
  expr->operands.push_back(std::move(input));
  const Token& next = current();
  const bool is_operand = next.kind == Token::Kind::string || next.kind == Token::Kind::integer ||
                          next.kind == Token::Kind::real || next.is_op("[") || next.is_op("{") ||
                          (next.kind == Token::Kind::name && !next.is_name("else") &&
                           !next.is_name("or") && !next.is_name("and"));
  if (next.is_op("(")) {
    expr->arguments = call_arguments();
  } else if (is_operand) {
    if (next.is_name("is")) fail_at(next.line, "You cannot chain multiple tests with is");
    expr->arguments.positional.push_back(postfix(primary()));
  }
  ExprRef result = finished(std::move(expr));
  return negated ? node(Kind::not_, line, operands(std::move(result))) : std::move(result);
}

ExprRef Parser::call(ExprRef callee) {
  auto expr = std::make_unique<Expr>();
  expr->kind = Kind::call;
  expr->line = current().line;
  expr->operands.push_back(std::move(callee));
  expr->arguments = call_arguments();
  return finished(std::move(expr));
}

void Parser::call_argument(ast::CallArguments& arguments, int line) {
  const auto ensure = [&](bool condition) {
    if (!condition) fail_at(line, "invalid syntax for function call expression");
  };
  if (skip_op("*")) {
    ensure(!arguments.star && !arguments.double_star);
    arguments.star = expression();
  } else if (skip_op("**")) {
    ensure(!arguments.double_star);
    arguments.double_star = expression();
  } else if (current().kind == Token::Kind::name && following().is_op("=")) {
    ensure(!arguments.double_star);
    const std::string key = advance().text;
    for (const auto& [other, value] : arguments.keywords)
      if (other == key) fail_at(line, "keyword argument repeated: {}", quoted(key));
    advance();
    arguments.keywords.emplace_back(key, expression());
  } else {
    ensure(!arguments.star && !arguments.double_star && arguments.keywords.empty());
    arguments.positional.push_back(expression());
  }
}

ast::CallArguments Parser::call_arguments() {
  const int line = current().line;
  expect_op("(");
  ast::CallArguments arguments;
  bool first = true;
  while (!current().is_op(")")) {
    if (!first) expect_op(",");
    if (!first && current().is_op(")")) break;
    call_argument(arguments, line);
    first = false;
  }
  expect_op(")");
  return arguments;
}

}  // namespace heed::jinja
