#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heed/jinja/values/objects.h"

namespace heed::jinja {

/// The state of one rendering: where it is, what it may still use, and how values are made. Not
/// thread-safe.
class Runtime {
 public:
  Runtime(std::string name, const Limits& limits)
      : location{.name = std::move(name)},
        values(location, "the values of the template", limits.value_bytes),
        output(location, "the output", limits.output_bytes),
        steps_left_(limits.steps),
        limits_(limits) {}
  /// Breaks reference cycles.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  SourceLocation location;
  Budget values, output;

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    location.fail(text, std::forward<Args>(args)...);
  }

  void step(uint64_t count = 1) {
    if (count > steps_left_) fail("the template takes more than {} steps", limits_.steps);
    steps_left_ -= count;
  }
  /// The steps of handling so many bytes.
  void step_bytes(size_t bytes) { step(1 + bytes / 64); }
  /// The same if each character is looked at.
  void step_characters(size_t bytes) { step(1 + bytes / 4); }
  const Limits& limits() const { return limits_; }

  Value text(Text text) {
    text.charge.add(sizeof(Text) + kAllocationBytes);
    return Value(std::make_shared<const Text>(std::move(text)));
  }
  template <typename T>
  Value object(std::shared_ptr<T> object) {
    object->charge = Charge(values, sizeof(T) + kAllocationBytes);
    return Value(ObjectRef(std::move(object)));
  }
  /// A string that did not come from the input.
  Value text(std::string_view bytes, bool input = false);
  /// Bytes [begin, end) of a text.
  Value slice(const Text& text, size_t begin, size_t end);
  Value list(std::vector<Value> items, bool tuple = false);
  Value tuple(std::vector<Value> items) { return list(std::move(items), true); }
  Value dict(Dict dict);
  Value generator(Iterator::Next next, int depth, std::string_view type_name = "generator");
  /// Keeps what may come to refer to itself until the rendering ends, which breaks its cycles.
  void keep(std::shared_ptr<Cyclic> object) {
    values.take(2 * sizeof(object));
    kept_.push_back(std::move(object));
  }

  /// Counts a level of nested evaluation while it lives. Throws Error if there are too many.
  class Level {
   public:
    explicit Level(Runtime& runtime) : runtime_(runtime) {
      if (++runtime.level_ > runtime.limits_.depth) {
        --runtime.level_;
        runtime.fail("the template nests deeper than {} levels", runtime.limits_.depth);
      }
    }
    ~Level() { --runtime_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Runtime& runtime_;
  };

 private:
  /// About what an allocation takes beside the object.
  static constexpr size_t kAllocationBytes = 32;

  uint64_t steps_left_;
  Limits limits_;
  int level_ = 0;
  std::vector<std::shared_ptr<Cyclic>> kept_;
};

/// Iteration as Python's iter(): elements, code points, keys. Throws Error if `value` has none.
IteratorRef iterate(Runtime& runtime, const Value& value);
bool is_iterable(const Value& value);
/// list(value).
std::vector<Value> items_of(Runtime& runtime, const Value& value);
/// len(value), if it has one.
std::optional<size_t> length_of(Runtime& runtime, const Value& value);
/// bool(value).
bool is_true(Runtime& runtime, const Value& value);
/// Throws the Error that the use of an undefined value gives.
[[noreturn]] void fail_undefined(Runtime& runtime, const Value& value);

}  // namespace heed::jinja
