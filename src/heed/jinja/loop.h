#pragma once

#include <memory>

#include "heed/jinja/macro.h"
#include "heed/jinja/parser/ast.h"
#include "heed/jinja/values/objects.h"

namespace heed::jinja {

/// The variable "loop". It reads its items one ahead at most, unless its length is asked for.
class Loop : public Callable {
 public:
  /// Of {% for node %} over `items`. A recursive loop is called again in `outer`.
  Loop(Interpreter& interpreter, const ast::For& node, const Value& items, IteratorRef iterator,
       ActivationRef outer, int64_t depth0);

  /// Moves on to the next item. False at the end.
  bool next(Value& item);
  /// Forgets the arguments of changed(), which may hold the loop itself.
  void forget() { changed_ = Value(); }

  std::string_view type_name() const override { return "LoopContext"; }
  Value attribute(Runtime& runtime, std::string_view name) const override;
  std::optional<size_t> length(Runtime& runtime) const override;
  Value call(Runtime& runtime, Arguments& arguments) override;

  Value cycle(Runtime& runtime, const Arguments& arguments) const;
  Value changed(Runtime& runtime, const Arguments& arguments);

 private:
  bool peek() const;

  Interpreter& interpreter_;
  const ast::For& node_;
  ActivationRef outer_;
  int64_t depth0_, index0_ = -1;
  // What is known of the items grows when attributes are read.
  mutable IteratorRef iterator_;
  mutable std::optional<size_t> length_;
  mutable Value after_;
  mutable bool has_after_ = false;
  Value before_, current_, changed_;
};

}  // namespace heed::jinja
