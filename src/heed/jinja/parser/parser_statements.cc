#include <algorithm>
#include <array>

#include "heed/base/quote.h"
#include "heed/base/reader_limits.h"
#include "heed/jinja/parser/parser.h"

namespace heed::jinja {

using ast::Body;
using ast::Expr;
using ast::ExprRef;

bool Parser::skip_op(std::string_view op) {
  const bool found = current().is_op(op);
  if (found) advance();
  return found;
}

bool Parser::skip_name(std::string_view name) {
  const bool found = current().is_name(name);
  if (found) advance();
  return found;
}

void Parser::fail_at_token(std::string_view expected) const {
  const Token& token = current();
  switch (token.kind) {
    case Token::Kind::end:
      fail_at(token.line, "unexpected end of template, expected {}", expected);
    case Token::Kind::block_end:
    case Token::Kind::variable_end:
      fail_at(token.line, "expected {}, found the end of the tag", expected);
    case Token::Kind::integer:
    case Token::Kind::real:
      fail_at(token.line, "expected {}, found a number", expected);
    default:
      fail_at(token.line, "expected {}, found {}", expected, quoted(token.text));
  }
}

void Parser::expect_op(std::string_view op) {
  if (!skip_op(op)) fail_at_token(fmt::format("'{}'", op));
}

std::string Parser::expect_name() {
  if (current().kind != Token::Kind::name) fail_at_token("a name");
  return advance().text;
}

void Parser::expect(Token::Kind kind, std::string_view what) {
  if (current().kind != kind) fail_at_token(what);
  advance();
}

ast::Template Parser::parse() {
  ast::Template result;
  result.body = body({});
  return result;
}

/// Statements up to a tag whose name is among `end`, or up to the end of the template if there is
/// none. The tag's name is the current token then.
Body Parser::body(Names end) {
  Body result;
  while (current().kind != Token::Kind::end) {
    const Token& token = advance();
    if (token.kind == Token::Kind::text) {
      TextBuilder text;
      text.append(token.text);
      Value value(std::make_shared<const Text>(text.finish()));
      result.push_back({token.line, ast::Output{std::move(value), nullptr}});
    } else if (token.kind == Token::Kind::variable_begin) {
      ExprRef value = tuple({});
      expect(Token::Kind::variable_end, "the end of the print statement");
      result.push_back({token.line, ast::Output{{}, std::move(value)}});
    } else {
      const bool ends = std::any_of(end.begin(), end.end(),
                                    [&](std::string_view name) { return current().is_name(name); });
      if (ends) return result;
      statement(result);
      expect(Token::Kind::block_end, "the end of the statement block");
    }
  }
  if (end.size() > 0)
    fail_at(current().line, "Unexpected end of template, expected the tag {}", *(end.end() - 1));
  return result;
}

Body Parser::body_of_tag(Names end) {
  skip_op(":");
  expect(Token::Kind::block_end, "the end of the statement block");
  return body(end);
}

/// The same up to the only tag that can end it, whose name is skipped.
Body Parser::body_up_to(std::string_view end) {
  Body result = body_of_tag({end});
  advance();
  return result;
}

/// The same of a macro: a "break" in it cannot end a loop around it.
Body Parser::macro_body(std::string_view end) {
  const int outer_loops = std::exchange(loops_, 0);
  Body result = body_up_to(end);
  loops_ = outer_loops;
  return result;
}

void Parser::statement(Body& out) {
  struct Tag {
    std::string_view name;
    void (Parser::*parse)(Body&);
  };
  constexpr std::array<Tag, 11> kTags{{{"for", &Parser::for_loop},
                                       {"if", &Parser::if_branches},
                                       {"set", &Parser::set},
                                       {"macro", &Parser::macro},
                                       {"call", &Parser::call_block},
                                       {"filter", &Parser::filter_block},
                                       {"generation", &Parser::generation},
                                       {"with", &Parser::with},
                                       {"print", &Parser::print},
                                       {"break", &Parser::loop_control},
                                       {"continue", &Parser::loop_control}}};
  if (current().kind != Token::Kind::name) fail_at(current().line, "tag name expected");
  const std::string name = current().text;
  const auto* const tag =
      std::find_if(kTags.begin(), kTags.end(), [&](const Tag& t) { return t.name == name; });
  if (tag == kTags.end()) fail_tag(name);
  if (++tags_ > limits::kMaxTemplateTags) fail_at(current().line, "tags nest too deeply");
  (this->*tag->parse)(out);
  --tags_;
}

void Parser::fail_tag(const std::string& name) const {
  for (const std::string_view known :
       {"block", "extends", "include", "import", "from", "autoescape"})
    if (name == known) fail_at(current().line, "the tag {} is not supported", quoted(name));
  fail_at(current().line, "Encountered unknown tag {}", quoted(name));
}

void Parser::require_assignable(const Expr& target) const {
  if (target.kind == Expr::Kind::name || target.kind == Expr::Kind::attribute_of) return;
  if (target.kind != Expr::Kind::tuple) fail_at(target.line, "can't assign to this");
  for (const ExprRef& part : target.operands) require_assignable(*part);
}

ExprRef Parser::assignment_target(std::string_view end, bool with_namespace) {
  ExprRef target = tuple({.names_only = true, .with_namespace = with_namespace, .end = end});
  require_assignable(*target);
  return target;
}

ExprRef Parser::target_name() {
  if (current().kind != Token::Kind::name) fail_at_token("a name");
  ExprRef target = name_or_constant(false);
  require_assignable(*target);
  return target;
}

void Parser::set(Body& out) {
  const int line = advance().line;
  ExprRef target = assignment_target({}, true);
  if (skip_op("=")) {
    out.push_back({line, ast::Set{std::move(target), tuple({})}});
    return;
  }
  ast::SetBlock block;
  block.target = std::move(target);
  block.filter = filter_chain(nullptr);
  block.body = body_up_to("endset");
  out.push_back({line, std::move(block)});
}

void Parser::for_loop(Body& out) {
  const int line = advance().line;
  ast::For loop;
  loop.target = assignment_target("in", false);
  if (!skip_name("in")) fail_at_token("'in'");
  loop.iterable = tuple({.conditional = false, .end = "recursive"});
  if (skip_name("if")) loop.condition = expression();
  if (skip_name("recursive")) fail_at(line, "a recursive loop is not supported");
  ++loops_;
  loop.body = body_of_tag({"else", "endfor"});
  --loops_;
  if (advance().text == "else") {
    loop.otherwise = body_up_to("endfor");
  }
  out.push_back({line, std::move(loop)});
}

void Parser::if_branches(Body& out) {
  const int line = current().line;
  ast::If node;
  std::string tag;
  do {
    advance();
    ExprRef condition = tuple({.conditional = false});
    Body branch = body_of_tag({"elif", "else", "endif"});
    node.branches.emplace_back(std::move(condition), std::move(branch));
  } while (current().is_name("elif"));
  if (advance().text == "else") {
    node.otherwise = body_up_to("endif");
  }
  out.push_back({line, std::move(node)});
}

ast::MacroBody Parser::signature() {
  ast::MacroBody macro;
  expect_op("(");
  while (!current().is_op(")")) {
    if (!macro.targets.empty()) expect_op(",");
    ExprRef target = target_name();
    const auto& names = macro.parameters;
    if (std::find(names.begin(), names.end(), target->name) != names.end())
      fail_at(target->line, "duplicate argument {}", quoted(target->name));
    if (skip_op("="))
      macro.defaults.push_back(expression());
    else if (!macro.defaults.empty())
      fail_at(target->line, "non-default argument follows default argument");
    macro.parameters.push_back(target->name);
    macro.targets.push_back(std::move(target));
  }
  expect_op(")");
  return macro;
}

void Parser::macro(Body& out) {
  const int line = advance().line;
  ast::MacroStatement node;
  node.target = target_name();
  node.macro = signature();
  node.macro.name = node.target->name;
  node.macro.body = macro_body("endmacro");
  out.push_back({line, std::move(node)});
}

void Parser::call_block(Body& out) {
  const int line = advance().line;
  ast::CallBlock node;
  if (current().is_op("(")) node.macro = signature();
  node.call = expression();
  if (node.call->kind != Expr::Kind::call) fail_at(line, "expected call");
  node.macro.body = macro_body("endcall");
  out.push_back({line, std::move(node)});
}

void Parser::generation(Body& out) {
  const int line = advance().line;
  ast::Generation node;
  node.macro.body = macro_body("endgeneration");
  out.push_back({line, std::move(node)});
}

void Parser::filter_block(Body& out) {
  const int line = advance().line;
  ast::FilterBlock node;
  node.filter = filter_chain(filter(nullptr));
  node.body = body_up_to("endfilter");
  out.push_back({line, std::move(node)});
}

void Parser::with(Body& out) {
  const int line = advance().line;
  ast::With node;
  while (current().kind != Token::Kind::block_end && !current().is_op(":")) {
    if (!node.variables.empty()) expect_op(",");
    ExprRef target = assignment_target({}, false);
    expect_op("=");
    ExprRef value = expression();
    node.variables.emplace_back(std::move(target), std::move(value));
  }
  node.body = body_up_to("endwith");
  out.push_back({line, std::move(node)});
}

void Parser::print(Body& out) {
  const int line = advance().line;
  for (bool first = true; current().kind != Token::Kind::block_end; first = false) {
    if (!first) expect_op(",");
    out.push_back({line, ast::Output{{}, expression()}});
  }
}

void Parser::loop_control(Body& out) {
  const Token& token = advance();
  if (loops_ == 0) fail_at(token.line, "'{}' outside of a loop", token.text);
  if (token.text == "break")
    out.push_back({token.line, ast::Break{}});
  else
    out.push_back({token.line, ast::Continue{}});
}

}  // namespace heed::jinja
