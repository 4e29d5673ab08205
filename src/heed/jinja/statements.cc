#include <utility>

#include "heed/jinja/capture.h"
#include "heed/jinja/interpreter.h"
#include "heed/jinja/loop.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {

void Interpreter::run(const ast::Template& tree, TextBuilder& out) {
  const ActivationScope entered(*this, nullptr, tree.function);
  out_ = root_out_ = &out;
  enter(tree.scope);
  run(tree.body);
}

Interpreter::Flow Interpreter::run(const ast::Body& body) {
  const Runtime::Level level(runtime_);
  for (const ast::Statement& statement : body) {
    runtime_.step();
    runtime_.location.line = statement.line;
    const Flow flow = std::visit([&](const auto& node) { return run(node); }, statement.node);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Interpreter::Flow Interpreter::run(const ast::Output& node) {
  append_str(runtime_, *out_, node.expr ? evaluate(*node.expr) : node.text);
  return Flow::next;
}

Interpreter::Flow Interpreter::run(const ast::Set& node) {
  check_namespaces(*node.target);
  assign(*node.target, evaluate(*node.value));
  return Flow::next;
}

Interpreter::Flow Interpreter::run(const ast::SetBlock& node) {
  enter(node.scope);
  Capture capture(*this);
  const Flow flow = run(node.body);
  const Value text = capture.finish();
  if (flow != Flow::next) return flow;
  check_namespaces(*node.target);
  assign(*node.target, node.filter ? filter_text(*node.filter, text) : text);
  leave(node.scope);
  return Flow::next;
}

Interpreter::Flow Interpreter::run(const ast::If& node) {
  for (const auto& [condition, body] : node.branches)
    if (is_true(condition)) return run(body);
  return run(node.otherwise);
}

Interpreter::Flow Interpreter::run(const ast::For& node) {
  const Value items = evaluate(*node.iterable);
  const bool any = run_items(node, items);
  leave(node.scope);
  if (any || node.otherwise.empty()) return Flow::next;
  enter(node.otherwise_scope);
  const Flow flow = run(node.otherwise);
  leave(node.otherwise_scope);
  return flow;
}

/// Whether an iteration has reached the end of the body. As in jinja2, one that "break" or
/// "continue" ended does not count.
bool Interpreter::run_items(const ast::For& node, const Value& items) {
  const int line = runtime_.location.line;
  IteratorRef iterator = iterate(runtime_, items);
  if (node.condition) iterator = selected(node, std::move(iterator));
  std::shared_ptr<Loop> loop;
  if (node.loop_slot >= 0)
    loop = std::make_shared<Loop>(runtime_, items, iterator, node.condition != nullptr);
  bool any = false;
  Flow flow = Flow::next;
  for (Value item; flow != Flow::end_loop && (loop ? loop->next(item) : iterator->next(item));) {
    runtime_.step();
    runtime_.location.line = line;
    enter(node.scope);
    assign(*node.target, item);
    if (loop) current_->slots[static_cast<size_t>(node.loop_slot)] = Value(ObjectRef(loop));
    flow = run(node.body);
    if (flow == Flow::next) any = true;
  }
  return any;
}

/// The items for which the condition of the loop holds, tested when they are asked for.
IteratorRef Interpreter::selected(const ast::For& node, IteratorRef items) {
  auto activation = std::make_shared<Activation>(current_, node.condition_function);
  const auto test = [this, &node, activation](const Value& item) {
    const ActivationRef caller = std::exchange(current_, activation);
    struct Restore {
      ActivationRef& current;
      const ActivationRef& caller;
      ~Restore() { current = caller; }
    } const restore{current_, caller};
    assign(*node.condition_target, item);
    return is_true(node.condition);
  };
  {
    const ActivationRef caller = std::exchange(current_, activation);
    enter(node.condition_scope);
    current_ = caller;
  }
  const int depth = items->depth() + 1;
  return std::make_shared<Iterator>(
      "generator",
      [this, &node, items = std::move(items), test](Value& item) {
        while (items->next(item)) {
          if (!test(item)) continue;
          item = unpacked(*node.condition_target, item);
          return true;
        }
        return false;
      },
      depth);
}

Interpreter::Flow Interpreter::run(const ast::MacroStatement& node) {
  assign(*node.target, make_macro(node.macro));
  return Flow::next;
}

Interpreter::Flow Interpreter::run(const ast::CallBlock& node) {
  const Value caller = make_macro(node.macro);
  append_str(runtime_, *out_, evaluate_call(*node.call, &caller));
  return Flow::next;
}

Interpreter::Flow Interpreter::run(const ast::Generation& node) {
  const Value macro = make_macro(node.macro);
  Arguments none;
  const Value text = call_macro(*macro.as<Macro>(), none);
  const size_t begin = root_out_->size();
  generations_.push_back({begin, begin + text.text().bytes.size()});
  append_str(runtime_, *out_, text);
  return Flow::next;
}

Interpreter::Flow Interpreter::run(const ast::FilterBlock& node) {
  enter(node.scope);
  Capture capture(*this);
  const Flow flow = run(node.body);
  const Value text = capture.finish();
  if (flow != Flow::next) return flow;
  append_str(runtime_, *out_, filter_text(*node.filter, text));
  leave(node.scope);
  return Flow::next;
}

Interpreter::Flow Interpreter::run(const ast::With& node) {
  enter(node.scope);
  for (const auto& [target, value] : node.variables) assign(*target, evaluate(*value));
  const Flow flow = run(node.body);
  leave(node.scope);
  return flow;
}

}  // namespace heed::jinja
