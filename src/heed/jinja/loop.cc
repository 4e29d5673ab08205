#include "heed/jinja/loop.h"

#include "heed/jinja/runtime.h"

namespace heed::jinja {
Loop::Loop(Runtime& runtime, const Value& items, IteratorRef iterator, bool selects)
    : Object(iterator->depth() + 1),
      iterator_(std::move(iterator)),
      length_(selects ? std::nullopt : length_of(runtime, items)) {
  if (depth() > kMaxValueDepth)
    runtime.fail("loops refer to loops more than {} times", kMaxValueDepth);
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
  if (name == "previtem")
    return index0_ == 0 ? Value::undefined("there is no previous item") : before_;
  if (name == "nextitem") return peek() ? after_ : Value::undefined("there is no next item");
  if (name == "cycle" || name == "changed" || name == "depth" || name == "depth0")
    runtime.fail("loop.{} is not supported", name);
  return {};
}

}  // namespace heed::jinja
