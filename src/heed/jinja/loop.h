#pragma once

#include <memory>

#include "heed/jinja/values/objects.h"

namespace heed::jinja {

/// The variable "loop". It reads its items one ahead at most, unless its length is asked for.
class Loop : public Object {
 public:
  /// Over what `iterator` gives: all of `items`, or those that the loop selects.
  Loop(Runtime& runtime, const Value& items, IteratorRef iterator, bool selects);

  /// Moves on to the next item. False at the end.
  bool next(Value& item);

  std::string_view type_name() const override { return "LoopContext"; }
  Value attribute(Runtime& runtime, std::string_view name) const override;
  std::optional<size_t> length(Runtime& runtime) const override;

 private:
  bool peek() const;

  int64_t index0_ = -1;
  // What is known of the items grows when attributes are read.
  mutable IteratorRef iterator_;
  mutable std::optional<size_t> length_;
  mutable Value after_;
  mutable bool has_after_ = false;
  Value before_, current_;
};

}  // namespace heed::jinja
