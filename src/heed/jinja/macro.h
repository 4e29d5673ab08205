#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/jinja/parser/ast.h"
#include "heed/jinja/values/objects.h"

namespace heed::jinja {

class Interpreter;

/// The variables of a function that runs. Macros defined in it keep it.
struct Activation : Cyclic {
  Activation(std::shared_ptr<Activation> outer_activation, const ast::Function& function)
      : outer(std::move(outer_activation)), slots(static_cast<size_t>(function.n_slots)) {}
  void break_cycles() override { slots.clear(); }

  std::shared_ptr<Activation> outer;  // of the function that this one is written in
  std::vector<Value> slots;
  bool kept = false;  // by the Runtime, because a macro refers to it
  Charge charge;
};
using ActivationRef = std::shared_ptr<Activation>;

/// {% macro %}, or the body of {% call %}.
class Macro : public Callable {
 public:
  Macro(Interpreter& interpreter, const ast::MacroBody& body, ActivationRef outer)
      : interpreter_(interpreter), body_(body), outer_(std::move(outer)) {}

  const std::string& name() const { return body_.name; }
  const ast::MacroBody& body() const { return body_; }
  const ActivationRef& outer() const { return outer_; }

  std::string_view type_name() const override { return "Macro"; }
  Value attribute(Runtime& runtime, std::string_view name) const override;
  Value call(Runtime& runtime, Arguments& arguments) override;

 private:
  Interpreter& interpreter_;
  const ast::MacroBody& body_;
  ActivationRef outer_;
};

}  // namespace heed::jinja
