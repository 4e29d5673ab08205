#include "heed/jinja/values/objects.h"

#include "heed/jinja/runtime.h"

namespace heed::jinja {

Range::Range(int64_t start, int64_t stop, int64_t step) : start_(start), stop_(stop), step_(step) {
  // Differences of any two int64_t fit into uint64_t.
  const auto distance = [](int64_t from, int64_t to) {
    return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  };
  if (step > 0)
    size_ = start < stop ? (distance(start, stop) - 1) / static_cast<uint64_t>(step) + 1 : 0;
  else
    size_ = start > stop ? (distance(stop, start) - 1) / (0 - static_cast<uint64_t>(step)) + 1 : 0;
}

Value Range::attribute(Runtime& /*runtime*/, std::string_view name) const {
  if (name == "start") return Value(start_);
  if (name == "stop") return Value(stop_);
  if (name == "step") return Value(step_);
  return {};
}

Value DictView::item(Runtime& runtime, size_t index) const {
  const auto& [key, value] = dict_->entries()[index];
  if (part_ == Part::keys) return key;
  if (part_ == Part::values) return value;
  return runtime.tuple({key, value});
}

}  // namespace heed::jinja
