#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "heed/base/error.h"
#include "heed/base/names.h"

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

/// The largest number of tokens of an output, a batch or a session.
inline constexpr int64_t kMaxBatchTokens = int64_t{1} << 31;
/// The largest counts that faces take.
inline constexpr int64_t kMaxTyped = int64_t{1} << 30;  // on the command line
inline constexpr int64_t kMaxServed = INT32_MAX;        // in requests to the server
inline constexpr int64_t kMaxSet = int64_t{1} << 40;    // in serve.toml

/// A row of a table of options: what is said once of a field of a struct. The program, the server,
/// the C API and Python take it from there; what is written beside them (headers, stubs, documents)
/// is compared with it by tests/cli/option_faces_test.cc. The default is that of the field.
template <typename Struct, typename Value>
struct DeclaredOption {
  using Number = typename ElementOfOptional<Value>::Type;
  /// Of ranges, where the option is a number. Times are in milliseconds.
  using Bound = std::conditional_t<std::is_floating_point_v<Number>, double, int64_t>;

  std::string_view name;  // of the field and of C's member; a literal
  Value Struct::*field;
  std::string_view key = name;  // of Python, serve.toml and the command line; a literal
  std::string_view help = {};   // of the command line
  Range<Bound> range = {};      // that the library accepts; bounds that `Number` has exactly
  Range<Bound> typed = range;   // on the command line
  Range<Bound> served = range;  // in a request to the server, or in serve.toml

  /// Throws InputError when a number is out of range, or not an enumerator.
  void check(const Value& value) const {
    if constexpr (!std::is_same_v<Value, Number>) {
      if (value) check_number(*value);
    } else {
      check_number(value);
    }
  }

  void check_number(const Number& value) const {
    if constexpr (std::is_arithmetic_v<Number>) {
      require_input(range.contains(static_cast<Bound>(value)), "{} is {}, expected {}", name, value,
                    range.text());
    } else if constexpr (std::is_enum_v<Number>) {
      require_input(name_of(value) != "?", "{} is {}, expected 0 to {}: one of its enumerators",
                    name, static_cast<int>(value), enumerators<Number>().size() - 1);
    }
  }
};

/// Checks all options of a table.
template <typename Table>
void check_all(const typename Table::Options& options) {
  Table::for_each([&](const auto& option) { option.check(options.*option.field); });
}

}  // namespace heed

// Defines a table of the options of `Struct`, a class whose static members are its rows.
// ROWS(OPTION) has OPTION(field, what else a DeclaredOption has) for each.
#define HEED_OPTION_TABLE(Table, Struct, ROWS) \
  struct Table {                               \
    using Options = Struct;                    \
    ROWS(HEED_DECLARE_OPTION)                  \
    /* Calls `visit` with each row. */         \
    template <typename Visit>                  \
    static void for_each(const Visit& visit) { \
      ROWS(HEED_VISIT_OPTION)                  \
    }                                          \
  };
#define HEED_DECLARE_OPTION(option, ...)                                              \
  static constexpr ::heed::DeclaredOption<Options, decltype(Options::option)> option{ \
      .name = #option, .field = &Options::option, __VA_ARGS__};
#define HEED_VISIT_OPTION(option, ...) visit(option);
