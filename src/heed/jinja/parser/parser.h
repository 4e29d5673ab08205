#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heed/jinja/parser/ast.h"
#include "heed/jinja/parser/lexer.h"

namespace heed::jinja {

/// Parses a template into a syntax tree whose variables are not yet bound (bind_variables). The
/// grammar is that of jinja2 with the tags "generation", "break" and "continue". Throws Error with
/// name and line for what is not grammatical and for what heed does not support.
class Parser {
 public:
  Parser(std::string_view source, const std::string& name)
      : location_{.name = name}, tokens_(tokenize(source, name)) {}

  ast::Template parse();

 private:
  using Names = std::initializer_list<std::string_view>;

  // Tokens.
  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& advance() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool skip_op(std::string_view op);
  bool skip_name(std::string_view name);
  void expect_op(std::string_view op);
  std::string expect_name();
  void expect(Token::Kind kind, std::string_view what);
  [[noreturn]] void fail_at_token(std::string_view expected) const;
  template <typename... Args>
  [[noreturn]] void fail_at(int line, fmt::format_string<Args...> text, Args&&... args) const {
    SourceLocation{location_.name, line}.fail(text, std::forward<Args>(args)...);
  }

  // Expressions.
  static std::vector<ast::ExprRef> operands(ast::ExprRef first, ast::ExprRef second = nullptr);
  ast::ExprRef node(ast::Expr::Kind kind, int line, std::vector<ast::ExprRef> operands = {},
                    std::string name = {});
  ast::ExprRef constant(Value value, int line);
  ast::ExprRef finished(ast::ExprRef expr) const;
  ast::ExprRef expression(bool conditional = true);
  ast::ExprRef conditional();
  ast::ExprRef disjunction();
  ast::ExprRef conjunction();
  ast::ExprRef negation();
  ast::ExprRef comparison();
  ast::ExprRef sum();
  ast::ExprRef concatenation();
  ast::ExprRef product();
  ast::ExprRef power();
  ast::ExprRef unary(bool with_filter = true);
  ast::ExprRef primary(bool with_namespace = false);
  ast::ExprRef name_or_constant(bool with_namespace);
  ast::ExprRef list();
  ast::ExprRef dict();
  ast::ExprRef postfix(ast::ExprRef expr);
  ast::ExprRef subscript(ast::ExprRef target);
  ast::ExprRef slice(ast::ExprRef target, ast::ExprRef start, int line);
  ast::ExprRef filters_tests_calls(ast::ExprRef expr);
  ast::ExprRef filter(ast::ExprRef input);
  ast::ExprRef filter_chain(ast::ExprRef input);
  ast::ExprRef test(ast::ExprRef input);
  ast::ExprRef call(ast::ExprRef callee);
  ast::CallArguments call_arguments();
  void call_argument(ast::CallArguments& arguments, int line);
  std::string dotted_name();

  struct TupleRules {
    bool names_only = false, conditional = true, parenthesised = false, with_namespace = false;
    std::string_view end = {};  // a name that ends the tuple
  };
  ast::ExprRef tuple(const TupleRules& rules);
  bool is_tuple_end(std::string_view end) const;

  // Statements.
  ast::Body body(Names end);
  ast::Body body_of_tag(Names end);
  ast::Body body_up_to(std::string_view end);
  ast::Body macro_body(std::string_view end);
  void statement(ast::Body& out);
  ast::ExprRef assignment_target(std::string_view end, bool with_namespace);
  ast::ExprRef target_name();
  void require_assignable(const ast::Expr& target) const;
  ast::MacroBody signature();
  void set(ast::Body& out);
  void for_loop(ast::Body& out);
  void if_branches(ast::Body& out);
  void macro(ast::Body& out);
  void call_block(ast::Body& out);
  void generation(ast::Body& out);
  void filter_block(ast::Body& out);
  void with(ast::Body& out);
  void print(ast::Body& out);
  void loop_control(ast::Body& out);
  [[noreturn]] void fail_tag(const std::string& name) const;

  SourceLocation location_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;  // of expressions
  int tags_ = 0;     // of statements
  int loops_ = 0;    // loops that a "break" here could end
};

}  // namespace heed::jinja
