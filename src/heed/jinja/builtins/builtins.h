#pragma once

#include <array>
#include <span>
#include <string_view>

#include "heed/jinja/runtime.h"

namespace heed::jinja {

/// A call of a filter, test, method or function that is written in C++.
struct Call {
  static constexpr size_t kMaxParameters = 8;

  Runtime& runtime;
  const Value& self;  // what the filter is applied to, or whose method it is
  Arguments& arguments;
  /// The arguments in the order of the parameters; nullptr for what is not given.
  std::array<const Value*, kMaxParameters> values{};

  bool has(size_t i) const { return values[i] != nullptr; }
  /// Argument i, or none.
  Value value(size_t i) const { return has(i) ? *values[i] : Value::none(); }
  /// bool(argument i).
  bool flag(size_t i, bool otherwise) const {
    return has(i) ? is_true(runtime, *values[i]) : otherwise;
  }
  /// Argument i, which must be an int.
  int64_t integer(size_t i, int64_t otherwise) const;
  /// Argument i, which must be a string.
  const Text& text(size_t i) const;
};

struct Builtin {
  std::string_view name;
  /// Names of parameters, those that may be left out with a "?". "*" alone: the function looks at
  /// the arguments itself. A leading "/": they cannot be given by name.
  std::string_view parameters;
  Value (*run)(Call& call);
};

/// Calls `builtin` after it has matched arguments and parameters. Throws Error if they do not
/// match.
Value invoke(Runtime& runtime, const Builtin& builtin, const Value& self, Arguments& arguments);

/// A method with its object, or a function.
class BoundBuiltin : public Callable {
 public:
  BoundBuiltin(const Builtin& builtin, Value self)
      : Callable(self.depth() + 1), builtin_(builtin), self_(std::move(self)) {}
  std::string_view type_name() const override { return "builtin_function_or_method"; }
  Value call(Runtime& runtime, Arguments& arguments) override {
    return invoke(runtime, builtin_, self_, arguments);
  }

 private:
  const Builtin& builtin_;
  Value self_;
};

/// nullptr if there is none of that name.
const Builtin* find_filter(std::string_view name);
const Builtin* find_test(std::string_view name);
const Builtin* find_function(std::string_view name);
const Builtin* find_method(const Value& value, std::string_view name);
/// Filters of jinja2 that heed does not have.
bool is_unsupported_filter(std::string_view name);

/// The parts of the tables.
using Builtins = std::span<const Builtin>;
Builtins text_filters();
Builtins list_filters();
Builtins selection_filters();
Builtins ordering_filters();
Builtins number_filters();
Builtins json_filters();
Builtins html_filters();
Builtins text_methods();
Builtins text_search_methods();
Builtins text_property_methods();
Builtins sequence_methods();
Builtins dict_methods();

/// The entry of that name; nullptr if there is none.
const Builtin* find_in(Builtins builtins, std::string_view name);

/// bool(test(value)).
bool passes(Runtime& runtime, std::string_view test, const Value& value, Arguments& arguments);
/// The filter `name` of `value`.
Value filtered(Runtime& runtime, std::string_view name, const Value& value, Arguments& arguments);

}  // namespace heed::jinja
