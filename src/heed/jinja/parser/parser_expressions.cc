#include <algorithm>
#include <array>

#include "heed/base/quote.h"
#include "heed/base/reader_limits.h"
#include "heed/jinja/parser/parser.h"

namespace heed::jinja {
namespace {

using ast::Expr;
using ast::ExprRef;
using ast::Op;
using Kind = ast::Expr::Kind;

struct NamedOp {
  std::string_view text;
  Op op;
};
constexpr NamedOp kComparisons[] = {{"==", Op::equal},  {"!=", Op::not_equal},
                                    {"<", Op::less},    {"<=", Op::less_equal},
                                    {">", Op::greater}, {">=", Op::greater_equal}};
constexpr NamedOp kSums[] = {{"+", Op::add}, {"-", Op::subtract}};
constexpr NamedOp kProducts[] = {
    {"*", Op::multiply}, {"/", Op::divide}, {"//", Op::floor_divide}, {"%", Op::modulo}};

template <size_t n>
const Op* find_op(const NamedOp (&table)[n], const Token& token) {
  if (token.kind != Token::Kind::op) return nullptr;
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [&](const NamedOp& entry) { return entry.text == token.text; });
  return found == std::end(table) ? nullptr : &found->op;
}

/// Counts a level of recursion of the parser.
class Nesting {
 public:
  Nesting(int& level, const SourceLocation& location, int line) : level_(level) {
    if (++level_ <= limits::kMaxTemplateNesting) return;
    --level_;
    SourceLocation{location.name, line}.fail("expressions nest too deeply");
  }
  ~Nesting() { --level_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& level_;
};

}  // namespace

std::vector<ExprRef> Parser::operands(ExprRef first, ExprRef second) {
  std::vector<ExprRef> list;
  list.push_back(std::move(first));
  if (second) list.push_back(std::move(second));
  return list;
}

ExprRef Parser::finished(ExprRef expr) const {
  const auto deepen = [&](const ExprRef& part) {
    if (part) expr->depth = std::max(expr->depth, part->depth + 1);
  };
  for (const ExprRef& part : expr->operands) deepen(part);
  for (const ExprRef& part : expr->arguments.positional) deepen(part);
  for (const auto& [name, part] : expr->arguments.keywords) deepen(part);
  deepen(expr->arguments.star);
  deepen(expr->arguments.double_star);
  if (expr->depth > limits::kMaxTemplateNesting) fail_at(expr->line, "expressions nest too deeply");
  return expr;
}

ExprRef Parser::node(Kind kind, int line, std::vector<ExprRef> operands, std::string name) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->line = line;
  expr->name = std::move(name);
  expr->operands = std::move(operands);
  return finished(std::move(expr));
}

ExprRef Parser::constant(Value value, int line) {
  ExprRef expr = node(Kind::constant, line);
  expr->value = std::move(value);
  return expr;
}

ExprRef Parser::expression(bool with_conditional) {
  return with_conditional ? conditional() : disjunction();
}

ExprRef Parser::conditional() {
  const Nesting nesting(nesting_, location_, current().line);
  int line = current().line;
  ExprRef result = disjunction();
  while (skip_name("if")) {
    ExprRef condition = disjunction();
    std::vector<ExprRef> parts = operands(std::move(condition), std::move(result));
    parts.push_back(skip_name("else") ? conditional() : nullptr);
    result = node(Kind::conditional, line, std::move(parts));
    line = current().line;
  }
  return result;
}

ExprRef Parser::disjunction() {
  ExprRef left = conjunction();
  while (current().is_name("or")) {
    const int line = advance().line;
    left = node(Kind::or_, line, operands(std::move(left), conjunction()));
  }
  return left;
}

ExprRef Parser::conjunction() {
  ExprRef left = negation();
  while (current().is_name("and")) {
    const int line = advance().line;
    left = node(Kind::and_, line, operands(std::move(left), negation()));
  }
  return left;
}

ExprRef Parser::negation() {
  const Nesting nesting(nesting_, location_, current().line);
  if (!current().is_name("not")) return comparison();
  const int line = advance().line;
  return node(Kind::not_, line, operands(negation()));
}

ExprRef Parser::comparison() {
  const int line = current().line;
  std::vector<ExprRef> parts = operands(sum());
  std::vector<Op> ops;
  while (true) {
    if (const Op* op = find_op(kComparisons, current())) {
      ops.push_back(*op);
      advance();
    } else if (skip_name("in")) {
      ops.push_back(Op::in);
    } else if (current().is_name("not") && following().is_name("in")) {
      advance();
      advance();
      ops.push_back(Op::not_in);
    } else {
      break;
    }
    parts.push_back(sum());
  }
  if (ops.empty()) return std::move(parts.front());
  ExprRef expr = node(Kind::compare, line, std::move(parts));
  expr->ops = std::move(ops);
  return expr;
}

ExprRef Parser::sum() {
  ExprRef left = concatenation();
  while (const Op* op = find_op(kSums, current())) {
    const int line = advance().line;
    left = node(Kind::binary, line, operands(std::move(left), concatenation()));
    left->ops = {*op};
  }
  return left;
}

ExprRef Parser::concatenation() {
  const int line = current().line;
  std::vector<ExprRef> parts = operands(product());
  while (skip_op("~")) parts.push_back(product());
  if (parts.size() == 1) return std::move(parts.front());
  return node(Kind::concat, line, std::move(parts));
}

ExprRef Parser::product() {
  ExprRef left = power();
  while (const Op* op = find_op(kProducts, current())) {
    const int line = advance().line;
    left = node(Kind::binary, line, operands(std::move(left), power()));
    left->ops = {*op};
  }
  return left;
}

ExprRef Parser::power() {
  ExprRef left = unary();
  while (current().is_op("**")) {
    const int line = advance().line;
    left = node(Kind::binary, line, operands(std::move(left), unary()));
    left->ops = {Op::power};
  }
  return left;
}

ExprRef Parser::unary(bool with_filter) {
  const Nesting nesting(nesting_, location_, current().line);
  const int line = current().line;
  ExprRef expr;
  if (skip_op("-"))
    expr = node(Kind::negate, line, operands(unary(false)));
  else if (skip_op("+"))
    expr = node(Kind::plus, line, operands(unary(false)));
  else
    expr = primary();
  expr = postfix(std::move(expr));
  return with_filter ? filters_tests_calls(std::move(expr)) : std::move(expr);
}

ExprRef Parser::name_or_constant(bool with_namespace) {
  const Token& token = advance();
  const std::string& name = token.text;
  if (name == "true" || name == "True") return constant(Value(true), token.line);
  if (name == "false" || name == "False") return constant(Value(false), token.line);
  if (name == "none" || name == "None") return constant(Value::none(), token.line);
  if (with_namespace && skip_op(".")) {
    ExprRef expr = node(Kind::attribute_of, token.line, {}, name);
    expr->attribute = expect_name();
    return expr;
  }
  ExprRef expr = node(Kind::name, token.line, {}, name);
  expr->value = Value::undefined(fmt::format("{} is undefined", quoted(name)));
  return expr;
}

ExprRef Parser::primary(bool with_namespace) {
  const Token& token = current();
  switch (token.kind) {
    case Token::Kind::name:
      return name_or_constant(with_namespace);
    case Token::Kind::string: {
      TextBuilder text;
      while (current().kind == Token::Kind::string) text.append(advance().text);
      return constant(Value(std::make_shared<const Text>(text.finish())), token.line);
    }
    case Token::Kind::integer:
      advance();
      return constant(Value(token.integer), token.line);
    case Token::Kind::real:
      advance();
      return constant(Value(token.real), token.line);
    default:
      break;
  }
  if (token.is_op("[")) return list();
  if (token.is_op("{")) return dict();
  if (!skip_op("(")) fail_at_token("an expression");
  ExprRef expr = tuple({.parenthesised = true});
  expect_op(")");
  return expr;
}

bool Parser::is_tuple_end(std::string_view end) const {
  const Token& token = current();
  return token.kind == Token::Kind::variable_end || token.kind == Token::Kind::block_end ||
         token.is_op(")") || (!end.empty() && token.is_name(end));
}

ExprRef Parser::tuple(const TupleRules& rules) {
  const int line = current().line;
  std::vector<ExprRef> parts;
  bool is_tuple = false;
  while (!is_tuple_end(rules.end)) {
    parts.push_back(rules.names_only ? primary(rules.with_namespace)
                                     : expression(rules.conditional));
    if (!skip_op(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !parts.empty()) return std::move(parts.front());
  if (!is_tuple && !rules.parenthesised) fail_at_token("an expression");
  return node(Kind::tuple, line, std::move(parts));
}

ExprRef Parser::list() {
  const int line = advance().line;
  std::vector<ExprRef> parts;
  while (!current().is_op("]")) {
    if (!parts.empty()) expect_op(",");
    if (current().is_op("]")) break;
    parts.push_back(expression());
  }
  expect_op("]");
  return node(Kind::list, line, std::move(parts));
}

ExprRef Parser::dict() {
  const int line = advance().line;
  std::vector<ExprRef> parts;
  while (!current().is_op("}")) {
    if (!parts.empty()) expect_op(",");
    if (current().is_op("}")) break;
    parts.push_back(expression());
    expect_op(":");
    parts.push_back(expression());
  }
  expect_op("}");
  return node(Kind::dict, line, std::move(parts));
}

}  // namespace heed::jinja
