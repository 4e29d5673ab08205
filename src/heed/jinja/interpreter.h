#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/jinja/macro.h"
#include "heed/jinja/parser/ast.h"
#include "heed/jinja/runtime.h"

namespace heed::jinja {

/// Runs a template once.
class Interpreter {
 public:
  Interpreter(Runtime& runtime, const Dict& context) : runtime_(runtime), context_(context) {}

  /// Renders into `out`.
  void run(const ast::Template& tree, TextBuilder& out);

  Runtime& runtime() { return runtime_; }
  /// What {% generation %} blocks wrote, as bytes of the output.
  std::vector<Span>& generations() { return generations_; }

  /// The text that a macro gives for these arguments.
  Value call_macro(const Macro& macro, Arguments& arguments);

 private:
  enum class Flow { next, end_loop, next_item };
  class ActivationScope;  // a function that runs
  class Capture;          // output that goes into a text

  // Statements.
  Flow run(const ast::Body& body);
  Flow run(const ast::Output& node);
  Flow run(const ast::Set& node);
  Flow run(const ast::SetBlock& node);
  Flow run(const ast::If& node);
  Flow run(const ast::For& node);
  Flow run(const ast::MacroStatement& node);
  Flow run(const ast::CallBlock& node);
  Flow run(const ast::Generation& node);
  Flow run(const ast::FilterBlock& node);
  Flow run(const ast::With& node);
  Flow run(const ast::Break& /*node*/) { return Flow::end_loop; }
  Flow run(const ast::Continue& /*node*/) { return Flow::next_item; }

  bool run_items(const ast::For& node, const Value& items);
  IteratorRef selected(const ast::For& node, IteratorRef items);

  // Variables.
  Value& variable(const ast::Slot& slot);
  void enter(const ast::Scope& scope);
  void leave(const ast::Scope& scope);
  Value from_context(const std::string& name);
  void assign(const ast::Expr& target, const Value& value);
  Value unpacked(const ast::Expr& target, const Value& value);
  void check_namespaces(const ast::Expr& target);
  Value make_macro(const ast::MacroBody& body);
  void set_arguments(const ast::MacroBody& body, Arguments& arguments);

  // Expressions.
  Value evaluate(const ast::Expr& expr);
  Value evaluate_operation(const ast::Expr& expr);
  Value evaluate_dict(const ast::Expr& expr);
  Value evaluate_comparison(const ast::Expr& expr);
  Value evaluate_concat(const ast::Expr& expr);
  Value evaluate_conditional(const ast::Expr& expr);
  Value evaluate_slice(const ast::Expr& expr);
  Value evaluate_builtin(const ast::Expr& expr, const Value& input);
  Value evaluate_call(const ast::Expr& expr, const Value* caller = nullptr);
  std::vector<Value> evaluate_all(const std::vector<ast::ExprRef>& exprs);
  Arguments evaluate_arguments(const ast::CallArguments& arguments);
  bool is_true(const ast::ExprRef& expr) { return jinja::is_true(runtime_, evaluate(*expr)); }
  /// The filters of a block, applied to its text.
  Value filter_text(const ast::Expr& filter, const Value& text);

  Runtime& runtime_;
  const Dict& context_;
  ActivationRef current_;
  TextBuilder* out_ = nullptr;
  TextBuilder* root_out_ = nullptr;
  std::vector<Span> generations_;
};

}  // namespace heed::jinja
