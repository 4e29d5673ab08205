// What is computed from expressions: derivatives, first bytes, emptiness, classes of bytes.
#include <algorithm>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/constrain/expressions.h"

namespace heed::constrain {
namespace {

// About the time that a derivative takes which has to be stored, relative to a node.
constexpr size_t kDerivativeSteps = 10;

// Numbers bytes so that two of them have the same number if they belong to the same sets.
class BytePartition {
 public:
  void split_by(const ByteSet& set) {
    if (count_ == 256) return;
    std::array<int, 512> renumbered;
    renumbered.fill(-1);
    count_ = 0;
    for (size_t byte = 0; byte < 256; ++byte) {
      const bool inside = set.contains(static_cast<uint8_t>(byte));
      int& number = renumbered[class_of_[byte] * 2U + (inside ? 1 : 0)];
      if (number < 0) number = count_++;
      class_of_[byte] = static_cast<uint8_t>(number);
    }
  }

  Expressions::ByteClasses classes() const {
    Expressions::ByteClasses result;
    result.class_of = class_of_;
    result.representative.resize(static_cast<size_t>(count_));
    for (size_t byte = 256; byte-- > 0;) {
      result.representative[class_of_[byte]] = static_cast<uint8_t>(byte);
    }
    return result;
  }

 private:
  std::array<uint8_t, 256> class_of_ = {};
  int count_ = 1;
};

}  // namespace

ExpressionId Expressions::derivative(ExpressionId expression, uint8_t byte) {
  const Node each = node(expression);
  const bool has_cheap_derivative =
      each.kind == Kind::none || each.kind == Kind::epsilon || each.kind == Kind::bytes ||
      ((each.kind == Kind::concatenation || each.kind == Kind::repetition) &&
       node(each.first()).kind == Kind::bytes);
  if (has_cheap_derivative) return derive(each, expression, byte);
  const uint64_t key = uint64_t{static_cast<uint32_t>(expression)} << 8 | byte;
  if (const uint32_t* known = derivatives_.find(key)) return ExpressionId{*known};
  spend(kDerivativeSteps);
  const ExpressionId result = derive(each, expression, byte);
  derivatives_.insert(key, static_cast<uint32_t>(result));
  return result;
}

ExpressionId Expressions::derive(const Node& each, ExpressionId expression, uint8_t byte) {
  switch (each.kind) {
    case Kind::none:
    case Kind::epsilon:
      return kNone;
    case Kind::bytes:
      return byte_set(expression).contains(byte) ? kEpsilon : kNone;
    case Kind::concatenation:
      return derive_concatenation(expression, byte);
    case Kind::complement:
      return complement(derivative(each.first(), byte));
    case Kind::repetition: {
      const ExpressionId first = derivative(each.first(), byte);
      if (first == kNone) return kNone;
      const uint32_t min = each.min() == 0 ? 0 : each.min() - 1;
      const uint32_t max = each.max() == kUnbounded ? kUnbounded : each.max() - 1;
      return concatenate(first, repeat(each.first(), min, max));
    }
    case Kind::multiples:
      return derive_multiples(each, expression, byte);
    case Kind::alternation:
    case Kind::intersection:
      break;
  }
  std::vector<ExpressionId> parts;
  spend(1 + each.b / 8);
  for (uint32_t i = 0; i < each.b; ++i) {
    const ExpressionId part = derivative(children_[each.a + i], byte);
    if (part != kNone) {
      parts.push_back(part);
    } else if (each.kind == Kind::intersection) {
      return kNone;
    }
  }
  return each.kind == Kind::alternation ? alternate(parts) : intersect(parts);
}

ExpressionId Expressions::derive_multiples(const Node& each, ExpressionId expression,
                                           uint8_t byte) {
  const bool behind_point = each.c % 2 == 1;
  if (byte == '.') return behind_point ? kNone : multiples(each.a, each.b, each.c + 1);
  if (byte < '0' || byte > '9') return kNone;
  if (each.c == 1) return byte == '0' ? expression : kNone;
  const uint64_t remainder = (uint64_t{each.a} * 10 + byte - '0') % each.b;
  return multiples(remainder, each.b, behind_point ? each.c - 2 : each.c);
}

// Goes from part to part as long as they may be empty, without recursion.
ExpressionId Expressions::derive_concatenation(ExpressionId expression, uint8_t byte) {
  std::vector<ExpressionId> parts;
  ExpressionId rest = expression;
  for (; node(rest).kind == Kind::concatenation; rest = node(rest).second()) {
    const ExpressionId first = node(rest).first(), second = node(rest).second();
    const ExpressionId derived = derivative(first, byte);
    if (derived != kNone) parts.push_back(concatenate(derived, second));
    if (!nullable(first)) {
      return parts.empty() ? kNone : parts.size() == 1 ? parts[0] : alternate(parts);
    }
  }
  parts.push_back(derivative(rest, byte));
  return alternate(parts);
}

ByteSet Expressions::alike(ExpressionId expression, uint8_t byte) {
  const Node each = node(expression);
  if (each.kind != Kind::alternation && each.kind != Kind::intersection) {
    return find_alike(each, expression, byte);
  }
  const uint64_t key = uint64_t{static_cast<uint32_t>(expression)} << 8 | byte;
  if (const uint32_t* known = alike_.find(key)) return computed_sets_.sets[*known];
  spend(1 + each.b / 8);
  const ByteSet result = find_alike(each, expression, byte);
  alike_.insert(key, computed_sets_.add(result));
  return result;
}

ByteSet Expressions::find_alike(const Node& each, ExpressionId expression, uint8_t byte) {
  ByteSet result = ByteSet::all();
  switch (each.kind) {
    case Kind::none:
    case Kind::epsilon:
      break;
    case Kind::bytes: {
      const ByteSet& set = byte_set(expression);
      return set.contains(byte) ? set : ~set;
    }
    case Kind::concatenation: {
      ExpressionId rest = expression;
      for (; node(rest).kind == Kind::concatenation; rest = node(rest).second()) {
        result &= alike(node(rest).first(), byte);
        if (!nullable(node(rest).first())) return result;
      }
      result &= alike(rest, byte);
      break;
    }
    case Kind::alternation:
    case Kind::intersection:
      for (uint32_t i = 0; i < each.b; ++i) result &= alike(children_[each.a + i], byte);
      break;
    case Kind::complement:
    case Kind::repetition:
      return alike(each.first(), byte);
    case Kind::multiples: {
      ByteSet digits = ByteSet::range('0', '9');
      digits.add('.');
      return digits.contains(byte) ? ByteSet::of(byte) : ~digits;
    }
  }
  return result;
}

ByteSet Expressions::first_bytes(ExpressionId expression) {
  return computed_sets_.sets[first_set(expression)];
}

uint32_t Expressions::first_set(ExpressionId expression) {
  const auto key = static_cast<uint32_t>(expression);
  if (const uint32_t* known = first_set_of_.find(key)) return *known;
  spend(1);
  ByteSet set;
  const Node each = node(expression);
  switch (each.kind) {
    case Kind::none:
    case Kind::epsilon:
      break;
    case Kind::bytes:
      set = byte_set(expression);
      break;
    case Kind::concatenation: {
      ExpressionId rest = expression;
      bool goes_on = true;
      for (; goes_on && node(rest).kind == Kind::concatenation; rest = node(rest).second()) {
        set |= first_bytes(node(rest).first());
        goes_on = nullable(node(rest).first());
      }
      if (goes_on) set |= first_bytes(rest);
      break;
    }
    case Kind::alternation:
      for (const ExpressionId child : children(expression)) set |= first_bytes(child);
      break;
    case Kind::intersection:
      set = ByteSet::all();
      for (const ExpressionId child : children(expression)) set &= first_bytes(child);
      break;
    case Kind::complement:
      set = ByteSet::all();
      break;
    case Kind::repetition:
      set = first_bytes(each.first());
      break;
    case Kind::multiples:
      set = ByteSet::range('0', '9');
      set.add('.');
      break;
  }
  const uint32_t index = computed_sets_.add(set);
  first_set_of_.insert(key, index);
  return index;
}

// Depth first. Derivatives that may be nearer to a match come before others, and each is computed
// only when it is needed.
bool Expressions::is_empty(ExpressionId expression) {
  if (node(expression).plain) return expression == kNone;
  if (const uint32_t* known = empty_.find(static_cast<uint32_t>(expression))) return *known != 0;
  struct Frame {
    ExpressionId expression;
    ByteSet open;                          // bytes whose derivatives are to be computed
    std::vector<ExpressionId> later = {};  // derivatives that are to be looked into
  };
  std::vector<Frame> path = {{expression, first_bytes(expression)}};
  std::unordered_set<ExpressionId> seen = {expression};
  const auto is_known_match = [&](ExpressionId each) {
    if (nullable(each) || node(each).plain) return each != kNone;
    const uint32_t* known = empty_.find(static_cast<uint32_t>(each));
    return known != nullptr && *known == 0;
  };
  bool found = nullable(expression);
  while (!found && !path.empty()) {
    Frame& frame = path.back();
    ExpressionId next = kNone;
    if (!frame.open.empty()) {
      const auto byte = static_cast<uint8_t>(frame.open.first());
      frame.open &= ~alike(frame.expression, byte);
      next = derivative(frame.expression, byte);
      found = is_known_match(next);
      if (node(next).plain || empty_.find(static_cast<uint32_t>(next)) != nullptr) continue;
      if (node(next).min_length >= node(frame.expression).min_length) {
        frame.later.push_back(next);
        continue;
      }
    } else if (!frame.later.empty()) {
      next = frame.later.back();
      frame.later.pop_back();
    } else {
      path.pop_back();
      continue;
    }
    if (!found && seen.insert(next).second) path.push_back({next, first_bytes(next)});
  }
  if (found) {
    for (const Frame& frame : path) empty_.insert(static_cast<uint32_t>(frame.expression), 0);
    empty_.insert(static_cast<uint32_t>(expression), 0);
  } else {
    for (const ExpressionId each : seen) empty_.insert(static_cast<uint32_t>(each), 1);
  }
  return !found;
}

bool Expressions::matches(ExpressionId expression, std::string_view text) {
  for (const char byte : text) expression = derivative(expression, static_cast<uint8_t>(byte));
  return nullable(expression);
}

std::vector<ByteSet> Expressions::reachable_sets(std::span<const ExpressionId> roots) const {
  std::vector<ByteSet> result;
  std::vector<bool> seen(nodes_.size());
  std::vector<ExpressionId> waiting;
  const auto visit = [&](ExpressionId expression) {
    if (seen[static_cast<uint32_t>(expression)]) return;
    seen[static_cast<uint32_t>(expression)] = true;
    waiting.push_back(expression);
  };
  for (const ExpressionId root : roots) visit(root);
  while (!waiting.empty()) {
    const ExpressionId expression = waiting.back();
    waiting.pop_back();
    const Node& each = node(expression);
    if (each.kind == Kind::bytes) result.push_back(byte_set(expression));
    if (each.kind == Kind::multiples) {
      for (const char digit : std::string_view(".0123456789")) {
        result.push_back(ByteSet::of(static_cast<uint8_t>(digit)));
      }
    }
    for (const ExpressionId child : children(expression)) visit(child);
    const bool has_first = each.kind == Kind::concatenation || each.kind == Kind::complement ||
                           each.kind == Kind::repetition;
    if (has_first) visit(each.first());
    if (each.kind == Kind::concatenation) visit(each.second());
  }
  return result;
}

Expressions::ByteClasses Expressions::byte_classes(std::span<const ExpressionId> roots) const {
  BytePartition partition;
  for (const ByteSet& set : reachable_sets(roots)) partition.split_by(set);
  return partition.classes();
}

}  // namespace heed::constrain
