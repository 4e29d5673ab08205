#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "heed/base/error.h"

namespace heed {

/// The numbers from `min`, or above it, to `max`.
template <typename Number>
struct Range {
  Number min = std::numeric_limits<Number>::lowest();
  Number max = std::numeric_limits<Number>::max();
  bool above_min = false;

  constexpr bool is_limited() const { return max < std::numeric_limits<Number>::max(); }

  constexpr bool contains(Number value) const {
    return (above_min ? value > min : value >= min) && value <= max;
  }

  /// "0 to 1000", "above 0 and at most 1", "at least 0" or "a finite number".
  std::string text() const {
    if (above_min) return fmt::format("above {} and at most {}", min, max);
    if (is_limited()) return fmt::format("{} to {}", min, max);
    if (min > std::numeric_limits<Number>::lowest()) return fmt::format("at least {}", min);
    return "a finite number";
  }
};

template <typename Value>
struct ElementOfOptional {
  using Type = Value;
};
template <typename Value>
struct ElementOfOptional<std::optional<Value>> {
  using Type = Value;
};

/// A row of a table of options: what is said once of a field of a struct. The program, the server,
/// the C API and Python take it from there; what is written beside them (headers, stubs, documents)
/// is compared with it by tests/cli/option_faces_test.cc.
template <typename Struct, typename Value>
struct DeclaredOption {
  using Number = typename ElementOfOptional<Value>::Type;
  /// Of ranges, where the option is a number.
  using Bound = std::conditional_t<std::is_floating_point_v<Number>, double, int64_t>;

  std::string_view name;  // of the field, of Python's keyword and of C's member; a literal
  Value Struct::*field;
  std::string_view help;        // of the command line
  Range<Bound> range = {};      // that the library accepts; bounds that `Number` has exactly
  Range<Bound> typed = range;   // on the command line
  Range<Bound> served = range;  // in a request to the server

  /// Throws InputError when a number is out of range.
  void check(Number value) const {
    require_input(range.contains(static_cast<Bound>(value)), "{} is {}, expected {}", name, value,
                  range.text());
  }
};

}  // namespace heed
