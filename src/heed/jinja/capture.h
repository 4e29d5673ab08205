#pragma once

#include <utility>

#include "heed/jinja/interpreter.h"

namespace heed::jinja {

/// While it lives, variables are those of a new activation of `function`, written in `outer`.
class Interpreter::ActivationScope {
 public:
  ActivationScope(Interpreter& interpreter, ActivationRef outer, const ast::Function& function)
      : interpreter_(interpreter), caller_(interpreter.current_) {
    auto activation = std::make_shared<Activation>(std::move(outer), function);
    activation->charge = Charge(interpreter.runtime_.values,
                                sizeof(Activation) + activation->slots.size() * sizeof(Value));
    interpreter.current_ = std::move(activation);
  }
  ~ActivationScope() { interpreter_.current_ = std::move(caller_); }
  ActivationScope(const ActivationScope&) = delete;
  ActivationScope& operator=(const ActivationScope&) = delete;

 private:
  Interpreter& interpreter_;
  ActivationRef caller_;
};

/// While it lives, or until finish(), output goes into a text.
class Interpreter::Capture {
 public:
  explicit Capture(Interpreter& interpreter)
      : interpreter_(interpreter), outer_(interpreter.out_), builder_(interpreter.runtime_.values) {
    interpreter.out_ = &builder_;
  }
  ~Capture() { interpreter_.out_ = outer_; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  Value finish() {
    interpreter_.out_ = outer_;
    return interpreter_.runtime_.text(builder_.finish());
  }

 private:
  Interpreter& interpreter_;
  TextBuilder* outer_;
  TextBuilder builder_;
};

}  // namespace heed::jinja
