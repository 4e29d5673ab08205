#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/constrain/byte_set.h"
#include "heed/constrain/number_map.h"

namespace heed::constrain {

/// What Expressions throws when one of its limits is exceeded.
class TooComplex : public Error {
 public:
  using Error::Error;
};

/// That of Limits::steps: further memory would not help.
class TooManySteps : public TooComplex {
 public:
  using TooComplex::TooComplex;
};

/// An expression of an Expressions. Two expressions that are equal after simplification have the
/// same id.
enum class ExpressionId : uint32_t {};

/// Regular expressions over bytes with intersection and complement, and their derivatives
/// (Brzozowski 1964; Owens, Reppy, Turon: "Regular-expression derivatives reexamined", 2009). Each
/// expression is stored once. The functions that make expressions simplify them, so that an
/// expression has few different derivatives. A counted repetition is one node, not copies.
///
/// Every function that makes expressions throws TooComplex when one of the Limits is exceeded.
class Expressions {
 public:
  static constexpr uint32_t kUnbounded = std::numeric_limits<uint32_t>::max();
  struct Limits {
    size_t nodes = size_t{1} << 18;  // expressions, their children and stored derivatives
    size_t steps = size_t{9} << 17;  // each takes at most some 0.1 us
    uint32_t depth = 500;            // nesting; the tails of concatenations do not count
  };

  Expressions();

  /// No string.
  ExpressionId none() const { return kNone; }
  /// The empty string alone.
  ExpressionId epsilon() const { return kEpsilon; }
  /// Every string.
  ExpressionId any() const { return kAny; }
  /// One byte of the set.
  ExpressionId bytes(const ByteSet& set);
  ExpressionId literal(std::string_view text);
  /// One of the strings. Common prefixes and suffixes are shared.
  ExpressionId one_of(std::vector<std::string> strings);
  ExpressionId concatenate(ExpressionId first, ExpressionId second);
  ExpressionId concatenate(std::span<const ExpressionId> parts);
  ExpressionId alternate(ExpressionId first, ExpressionId second);
  ExpressionId alternate(std::span<const ExpressionId> parts);
  ExpressionId intersect(ExpressionId first, ExpressionId second);
  ExpressionId intersect(std::span<const ExpressionId> parts);
  /// Every string of bytes that `part` does not match.
  ExpressionId complement(ExpressionId part);
  /// `part` at least `min` and at most `max` times; kUnbounded: no limit. Throws Error if
  /// min > max.
  ExpressionId repeat(ExpressionId part, uint32_t min, uint32_t max);
  ExpressionId optional(ExpressionId part) { return repeat(part, 0, 1); }
  /// Decimal numbers without a sign, such as "7" and "0.25", that are an integer times
  /// divisor / 10^fraction_digits; "." may stand at either end. One node, whose derivatives are the
  /// remainders. Throws Error unless 0 < divisor <= 10^9.
  ExpressionId multiples_of(uint32_t divisor, uint32_t fraction_digits);

  /// Whether it matches the empty string.
  bool nullable(ExpressionId expression) const { return node(expression).nullable; }
  /// What may follow `byte` in a string that `expression` matches.
  ExpressionId derivative(ExpressionId expression, uint8_t byte);
  /// Bytes by which `expression` has the same derivative as by `byte`, which is one of them. There
  /// may be more of these.
  ByteSet alike(ExpressionId expression, uint8_t byte);
  /// The bytes that a match may begin with. Holds further bytes where an intersection or a
  /// complement excludes them.
  ByteSet first_bytes(ExpressionId expression);
  /// Whether no string matches. Searches the derivatives for one that is nullable.
  bool is_empty(ExpressionId expression);
  /// Whether `text` as a whole matches.
  bool matches(ExpressionId expression, std::string_view text);
  /// Bytes of the longest match, or a bound above it; kUnbounded if there is none.
  uint32_t max_length(ExpressionId expression) const { return node(expression).max_length; }

  /// The sets of single bytes that expressions consist of.
  std::vector<ByteSet> reachable_sets(std::span<const ExpressionId> roots) const;
  /// Bytes that the expressions reachable from `roots`, and their derivatives, never tell apart get
  /// the same number, from 0 on.
  struct ByteClasses {
    std::array<uint8_t, 256> class_of;
    std::vector<uint8_t> representative;  // a byte of each class
  };
  ByteClasses byte_classes(std::span<const ExpressionId> roots) const;

  /// How an expression is made, for those who walk over them.
  enum class Kind : uint8_t {
    none,
    epsilon,
    bytes,
    concatenation,  // of `first` and `second`; `first` is none itself
    alternation,    // of children()
    intersection,   // of children()
    complement,     // of `first`
    repetition,     // of `first`, `min` to `max` times
    multiples,      // of b; a is the remainder so far, c is described at multiples()
  };
  struct Node {
    Kind kind = Kind::none;
    bool nullable = false;
    bool plain = false;  // holds no intersection and no complement
    uint16_t depth = 0;  // see Limits::depth
    uint32_t max_length = 0;
    uint32_t min_length = 0;       // bytes of the shortest match, or a bound below it
    uint32_t a = 0, b = 0, c = 0;  // by kind; see the functions below
    ExpressionId first() const { return ExpressionId{a}; }
    ExpressionId second() const { return ExpressionId{b}; }
    uint32_t min() const { return b; }
    uint32_t max() const { return c; }
  };
  const Node& node(ExpressionId expression) const {
    return nodes_[static_cast<uint32_t>(expression)];
  }
  std::span<const ExpressionId> children(ExpressionId expression) const;
  const ByteSet& byte_set(ExpressionId expression) const { return sets_.sets[node(expression).a]; }

  /// Counts work against Limits::steps, which bound the time of all that is compiled with these
  /// expressions. Throws TooManySteps once it is too much.
  void spend(size_t steps) {
    steps_ += steps;
    if (steps_ > limits_.steps) refuse_steps();
  }
  size_t steps() const { return steps_; }
  /// Counts steps from 0.
  void restart_steps() { steps_ = 0; }

  /// How many expressions there are.
  size_t size() const { return nodes_.size(); }
  /// Bytes of memory, about.
  size_t memory() const;
  /// Replaces the limits and counts steps from 0.
  void set_limits(const Limits& limits);

 private:
  static constexpr ExpressionId kNone{0}, kEpsilon{1}, kAny{2};
  // How deeply alternate() factors alternatives of alternatives; what lies deeper is left as it is.
  // This bounds its recursion.
  static constexpr int kMaxFactoring = 64;

  // Different sets of bytes and their indices.
  struct SetTable {
    std::vector<ByteSet> sets;
    std::map<ByteSet, uint32_t> index;
    uint32_t add(const ByteSet& set);
  };

  ExpressionId add(Node node, std::span<const ExpressionId> children = {});
  ExpressionId add_list(Kind kind, std::span<const ExpressionId> parts);
  bool equals(const Node& node, const Node& other, std::span<const ExpressionId> children) const;
  void grow_slots();

  ExpressionId multiples(uint64_t remainder, uint32_t divisor, uint32_t c);
  ExpressionId derive_multiples(const Node& node, ExpressionId expression, uint8_t byte);

  ExpressionId head(ExpressionId expression) const;
  ExpressionId tail(ExpressionId expression) const;
  ExpressionId prepend(ExpressionId head, ExpressionId tail);
  ExpressionId repeat_repetition(const Node& part, uint32_t min, uint32_t max);

  std::vector<ExpressionId> flat(Kind kind, std::span<const ExpressionId> parts) const;
  void merge_bytes(std::vector<ExpressionId>& parts);
  void factor_heads(std::vector<ExpressionId>& parts);
  void merge_equal_tails(std::vector<ExpressionId>& parts);
  void merge_counts(std::vector<ExpressionId>& parts);
  void merge_complements(std::vector<ExpressionId>& parts);
  bool has_opposites(std::span<const ExpressionId> parts) const;

  ExpressionId derive(const Node& node, ExpressionId expression, uint8_t byte);
  ExpressionId derive_concatenation(ExpressionId expression, uint8_t byte);
  ByteSet find_alike(const Node& node, ExpressionId expression, uint8_t byte);
  uint32_t first_set(ExpressionId expression);
  [[noreturn]] void refuse_steps() const;

  Limits limits_;
  size_t steps_ = 0;
  int factoring_ = 0;
  std::vector<Node> nodes_;
  std::vector<ExpressionId> children_;
  std::vector<uint32_t> slots_;  // hash table of nodes_: indices plus one; a power of two
  SetTable sets_, computed_sets_;
  NumberMap derivatives_, alike_;   // by expression and byte
  NumberMap first_set_of_, empty_;  // by expression; 1 is empty; only of those that are not plain
};

}  // namespace heed::constrain
