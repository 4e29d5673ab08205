#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/jinja/values/dict.h"
#include "heed/jinja/values/value.h"

namespace heed::jinja {

/// Yields values once, one after the other, computed when they are asked for.
class Iterator : public Object {
 public:
  /// Gives the next value to its argument, or returns false.
  using Next = std::function<bool(Value&)>;

  Iterator(std::string_view type_name, Next next, int depth = 1)
      : Object(depth), type_name_(type_name), next_(std::move(next)) {}
  std::string_view type_name() const override { return type_name_; }
  bool next(Value& value) { return next_(value); }

 private:
  std::string_view type_name_;
  Next next_;
};
using IteratorRef = std::shared_ptr<Iterator>;

/// Python's range object.
class Range : public Object {
 public:
  Range(int64_t start, int64_t stop, int64_t step);
  std::string_view type_name() const override { return "range"; }
  Value attribute(Runtime&, std::string_view name) const override;
  std::optional<size_t> length(Runtime&) const override { return size_; }
  size_t size() const { return size_; }
  int64_t start() const { return start_; }
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }
  int64_t operator[](size_t index) const { return start_ + static_cast<int64_t>(index) * step_; }

 private:
  int64_t start_, stop_, step_;
  size_t size_;
};

/// keys(), values() or items() of a dict.
class DictView : public Object {
 public:
  enum class Part { keys, values, items };

  DictView(DictRef dict, Part part)
      : Object(dict->depth() + 1), dict_(std::move(dict)), part_(part) {}
  std::string_view type_name() const override {
    return part_ == Part::keys ? "dict_keys" : part_ == Part::values ? "dict_values" : "dict_items";
  }
  std::optional<size_t> length(Runtime&) const override { return dict_->size(); }
  const DictRef& dict() const { return dict_; }
  Part part() const { return part_; }
  /// What entry `index` shows.
  Value item(Runtime& runtime, size_t index) const;

 private:
  DictRef dict_;
  Part part_;
};

/// What a template can change after it was made, and which may therefore refer to itself.
class Cyclic {
 public:
  virtual ~Cyclic() = default;
  /// Releases all that it refers to.
  virtual void break_cycles() = 0;
};

/// namespace(): the only value that a template can change.
class Namespace : public Object, public Cyclic {
 public:
  std::string_view type_name() const override { return "TemplateNamespace"; }
  Value attribute(Runtime&, std::string_view name) const override {
    const Value* found = attributes.find(name);
    return found ? *found : Value();
  }
  void break_cycles() override { attributes.clear(); }
  Dict attributes;
};

/// Arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;

  const Value* keyword(std::string_view name) const {
    for (const auto& [key, value] : keywords)
      if (key == name) return &value;
    return nullptr;
  }
};

/// Something that can be called.
class Callable : public Object {
 public:
  using Object::Object;
  virtual Value call(Runtime& runtime, Arguments& arguments) = 0;
};

}  // namespace heed::jinja
