#include "heed/jinja/loop.h"

#include "heed/jinja/interpreter.h"
#include "heed/jinja/values/compare.h"

namespace heed::jinja {
namespace {

/// loop.cycle or loop.changed.
class LoopMethod : public Callable {
 public:
  using Run = Value (*)(Loop&, Runtime&, const Arguments&);
  LoopMethod(std::shared_ptr<const Loop> loop, Run run)
      : Callable(loop->depth() + 1), loop_(std::const_pointer_cast<Loop>(loop)), run_(run) {}
  std::string_view type_name() const override { return "method"; }
  Value call(Runtime& runtime, Arguments& arguments) override {
    if (!arguments.keywords.empty()) runtime.fail("unexpected keyword argument");
    return run_(*loop_, runtime, arguments);
  }

 private:
  std::shared_ptr<Loop> loop_;
  Run run_;
};

}  // namespace

Loop::Loop(Interpreter& interpreter, const ast::For& node, const Value& items, IteratorRef iterator,
           ActivationRef outer, int64_t depth0)
    : Callable(iterator->depth() + 1),
      interpreter_(interpreter),
      node_(node),
      outer_(std::move(outer)),
      depth0_(depth0),
      iterator_(std::move(iterator)),
      length_(node.condition ? std::nullopt : length_of(interpreter.runtime(), items)) {
  if (depth() > kMaxValueDepth)
    interpreter.runtime().fail("loops refer to loops more than {} times", kMaxValueDepth);
}

bool Loop::peek() const {
  if (!has_after_) has_after_ = iterator_->next(after_);
  return has_after_;
}

bool Loop::next(Value& item) {
  if (!peek()) return false;
  has_after_ = false;
  before_ = std::move(current_);
  current_ = after_;
  item = std::move(after_);
  ++index0_;
  return true;
}

std::optional<size_t> Loop::length(Runtime& runtime) const {
  if (length_) return length_;
  const Value rest = runtime.list(items_of(runtime, Value(ObjectRef(iterator_))));
  iterator_ = iterate(runtime, rest);
  length_ = rest.items().size() + static_cast<size_t>(index0_ + 1) + (has_after_ ? 1 : 0);
  return length_;
}

Value Loop::attribute(Runtime& runtime, std::string_view name) const {
  const auto method = [&](LoopMethod::Run run) {
    const auto self = std::static_pointer_cast<const Loop>(shared_from_this());
    return runtime.object(std::make_shared<LoopMethod>(self, run));
  };
  const auto remaining = [&](int64_t passed) {
    return Value(static_cast<int64_t>(*length(runtime)) - passed);
  };
  if (name == "index") return Value(index0_ + 1);
  if (name == "index0") return Value(index0_);
  if (name == "first") return Value(index0_ == 0);
  if (name == "last") return Value(!peek());
  if (name == "length") return remaining(0);
  if (name == "revindex") return remaining(index0_);
  if (name == "revindex0") return remaining(index0_ + 1);
  if (name == "depth") return Value(depth0_ + 1);
  if (name == "depth0") return Value(depth0_);
  if (name == "previtem")
    return index0_ == 0 ? Value::undefined("there is no previous item") : before_;
  if (name == "nextitem") return peek() ? after_ : Value::undefined("there is no next item");
  if (name == "cycle")
    return method(
        [](Loop& loop, Runtime& rt, const Arguments& args) { return loop.cycle(rt, args); });
  if (name == "changed")
    return method(
        [](Loop& loop, Runtime& rt, const Arguments& args) { return loop.changed(rt, args); });
  return {};
}

Value Loop::cycle(Runtime& runtime, const Arguments& arguments) const {
  if (arguments.positional.empty()) runtime.fail("no items for cycling given");
  return arguments.positional[static_cast<size_t>(index0_) % arguments.positional.size()];
}

Value Loop::changed(Runtime& runtime, const Arguments& arguments) {
  Value now = runtime.tuple(arguments.positional);
  if (!changed_.is_missing() && equal(runtime, changed_, now)) return Value(false);
  changed_ = std::move(now);
  return Value(true);
}

Value Loop::call(Runtime& runtime, Arguments& arguments) {
  if (!node_.recursive)
    runtime.fail("The loop must have the 'recursive' marker to be called recursively.");
  const bool by_name = arguments.positional.empty() && arguments.keyword("iterable");
  if (arguments.positional.size() + arguments.keywords.size() != 1 ||
      (arguments.positional.empty() && !by_name))
    runtime.fail("loop() takes one argument");
  const Value& items = by_name ? *arguments.keyword("iterable") : arguments.positional.front();
  return interpreter_.run_recursive(node_, items, outer_, depth0_ + 1);
}

}  // namespace heed::jinja
