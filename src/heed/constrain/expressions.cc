#include "heed/constrain/expressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/error.h"

namespace heed::constrain {
namespace {

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 32);
}

uint64_t hash_of(const Expressions::Node& node, std::span<const ExpressionId> children) {
  uint64_t hash = mixed(static_cast<uint64_t>(node.kind), node.c);
  if (children.empty()) return mixed(mixed(hash, node.a), node.b);
  for (const ExpressionId child : children) hash = mixed(hash, static_cast<uint32_t>(child));
  return hash;
}

// Sums and products of lengths and counts, which stop at kUnbounded.
uint32_t saturated(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, Expressions::kUnbounded));
}
uint32_t plus(uint32_t a, uint32_t b) { return saturated(uint64_t{a} + b); }
uint32_t times(uint32_t a, uint32_t b) {
  if (a == 0 || b == 0) return 0;
  if (a == Expressions::kUnbounded || b == Expressions::kUnbounded) return Expressions::kUnbounded;
  return saturated(uint64_t{a} * b);
}
// What a node on the way to a string of one_of() costs, relative to a node of an expression.
constexpr size_t kTrieSteps = 8;

// Whether a sum or product of counts can be stored: it is unbounded only if one of these is.
bool fits(uint32_t result, uint32_t a, uint32_t b) {
  return result != Expressions::kUnbounded || a == result || b == result;
}

}  // namespace

uint32_t Expressions::SetTable::add(const ByteSet& set) {
  const auto [at, inserted] = index.try_emplace(set, static_cast<uint32_t>(sets.size()));
  if (inserted) sets.push_back(set);
  return at->second;
}

Expressions::Expressions() {
  grow_slots();
  add({.kind = Kind::none, .plain = true, .min_length = kUnbounded});
  add({.kind = Kind::epsilon, .nullable = true, .plain = true});
  // kAny refers to the node behind it.
  add({.kind = Kind::repetition,
       .nullable = true,
       .plain = true,
       .depth = 1,
       .max_length = kUnbounded,
       .a = 3,
       .b = 0,
       .c = kUnbounded});
  bytes(ByteSet::all());
}

void Expressions::set_limits(const Limits& limits) {
  limits_ = limits;
  steps_ = 0;
}

size_t Expressions::memory() const {
  constexpr size_t kSetBytes = 2 * sizeof(ByteSet) + 48;
  return nodes_.size() * (sizeof(Node) + 24) + children_.size() * sizeof(ExpressionId) +
         (sets_.sets.size() + computed_sets_.sets.size()) * kSetBytes + derivatives_.memory() +
         alike_.memory() + first_set_of_.memory() + empty_.memory();
}

void Expressions::refuse_steps() const {
  throw TooManySteps(
      fmt::format("the constraint is too complex: more than {} steps", limits_.steps));
}

std::span<const ExpressionId> Expressions::children(ExpressionId expression) const {
  const Node& list = node(expression);
  if (list.kind != Kind::alternation && list.kind != Kind::intersection) return {};
  return std::span(children_).subspan(list.a, list.b);
}

bool Expressions::equals(const Node& node, const Node& other,
                         std::span<const ExpressionId> children) const {
  if (node.kind != other.kind || node.c != other.c) return false;
  if (children.empty()) return node.a == other.a && node.b == other.b;
  return std::ranges::equal(std::span(children_).subspan(node.a, node.b), children);
}

void Expressions::grow_slots() {
  slots_.assign(std::max<size_t>(slots_.size() * 2, 256), 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    size_t slot = hash_of(nodes_[i], children(ExpressionId{i})) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = i + 1;
  }
}

// Returns the id of the node that has these members and children.
ExpressionId Expressions::add(Node node, std::span<const ExpressionId> children) {
  spend(1 + children.size());
  const size_t mask = slots_.size() - 1;
  size_t slot = hash_of(node, children) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (equals(nodes_[slots_[slot] - 1], node, children)) return ExpressionId{slots_[slot] - 1};
  }
  if (nodes_.size() + children_.size() + derivatives_.size() + alike_.size() >= limits_.nodes) {
    throw TooComplex(
        fmt::format("the constraint is too complex: more than {} parts", limits_.nodes));
  }
  if (node.depth > limits_.depth) {
    throw TooComplex(
        fmt::format("the constraint is nested more than {} levels deep", limits_.depth));
  }
  spend(1);
  if (!children.empty()) {
    node.a = static_cast<uint32_t>(children_.size());
    node.b = static_cast<uint32_t>(children.size());
    children_.insert(children_.end(), children.begin(), children.end());
  }
  nodes_.push_back(node);
  slots_[slot] = static_cast<uint32_t>(nodes_.size());
  const ExpressionId result{slots_[slot] - 1};
  if (nodes_.size() * 2 > slots_.size()) grow_slots();
  return result;
}

ExpressionId Expressions::bytes(const ByteSet& set) {
  if (set.empty()) return kNone;
  return add(
      {.kind = Kind::bytes, .plain = true, .max_length = 1, .min_length = 1, .a = sets_.add(set)});
}

ExpressionId Expressions::literal(std::string_view text) {
  ExpressionId result = kEpsilon;
  for (size_t i = text.size(); i-- > 0;) {
    result = prepend(bytes(ByteSet::of(static_cast<uint8_t>(text[i]))), result);
  }
  return result;
}

ExpressionId Expressions::head(ExpressionId expression) const {
  return node(expression).kind == Kind::concatenation ? node(expression).first() : expression;
}

ExpressionId Expressions::tail(ExpressionId expression) const {
  return node(expression).kind == Kind::concatenation ? node(expression).second() : kEpsilon;
}

ExpressionId Expressions::concatenate(ExpressionId first, ExpressionId second) {
  if (first == kNone || second == kNone) return kNone;
  std::vector<ExpressionId> heads;
  for (; node(first).kind == Kind::concatenation; first = node(first).second()) {
    heads.push_back(node(first).first());
  }
  heads.push_back(first);
  for (size_t i = heads.size(); i-- > 0;) second = prepend(heads[i], second);
  return second;
}

ExpressionId Expressions::concatenate(std::span<const ExpressionId> parts) {
  ExpressionId result = kEpsilon;
  for (size_t i = parts.size(); i-- > 0;) result = concatenate(parts[i], result);
  return result;
}

// `head` is no concatenation, and neither is none. x{a,b} x{c,d} becomes x{a+c,b+d}.
ExpressionId Expressions::prepend(ExpressionId head_id, ExpressionId tail_id) {
  if (head_id == kEpsilon) return tail_id;
  if (tail_id == kEpsilon) return head_id;
  const ExpressionId next_id = head(tail_id);
  const Node first = node(head_id), next = node(next_id);
  // A part as a repetition: its own part, and how often.
  const auto counted = [&](const Node& each, ExpressionId id) -> Node {
    if (each.kind == Kind::repetition) return each;
    const std::span<const ExpressionId> parts = children(id);
    const bool is_optional =
        each.kind == Kind::alternation && parts.size() == 2 && parts[0] == kEpsilon;
    return {.a = static_cast<uint32_t>(is_optional ? parts[1] : id),
            .b = is_optional ? 0U : 1U,
            .c = 1};
  };
  const Node x = counted(first, head_id), y = counted(next, next_id);
  const uint32_t min = plus(x.min(), y.min()), max = plus(x.max(), y.max());
  const bool is_counted =
      x.a == y.a && (x.max() > 1 || x.min() == 0 || y.max() > 1 || y.min() == 0);
  if (is_counted && min != kUnbounded && fits(max, x.max(), y.max())) {
    return concatenate(repeat(x.first(), min, max), tail(tail_id));
  }
  const Node rest = node(tail_id);
  // A derivative goes along the tails in a loop.
  int depth = first.depth + 1;
  if (first.nullable) depth = std::max(depth, rest.depth + (rest.kind != Kind::concatenation));
  return add({.kind = Kind::concatenation,
              .nullable = first.nullable && rest.nullable,
              .plain = first.plain && rest.plain,
              .depth = static_cast<uint16_t>(depth),
              .max_length = plus(first.max_length, rest.max_length),
              .min_length = plus(first.min_length, rest.min_length),
              .a = static_cast<uint32_t>(head_id),
              .b = static_cast<uint32_t>(tail_id)});
}

ExpressionId Expressions::complement(ExpressionId part) {
  if (part == kNone) return kAny;
  if (part == kAny) return kNone;
  const Node inner = node(part);
  if (inner.kind == Kind::complement) return inner.first();
  return add({.kind = Kind::complement,
              .nullable = !inner.nullable,
              .depth = static_cast<uint16_t>(inner.depth + 1),
              .max_length = kUnbounded,
              .min_length = inner.nullable ? 1U : 0U,
              .a = static_cast<uint32_t>(part)});
}

ExpressionId Expressions::repeat(ExpressionId part, uint32_t min, uint32_t max) {
  require(min <= max, "a repetition of at least {} and at most {}", min, max);
  require(min != kUnbounded, "a repetition of more than {}", kUnbounded - 1);
  if (max == 0 || part == kEpsilon) return kEpsilon;
  if (part == kNone) return min == 0 ? kEpsilon : kNone;
  if (node(part).nullable) min = 0;
  if (min == 0 && max > 1 && node(part).kind == Kind::alternation) {
    // (ε|x){0,n} is x{0,n}.
    std::vector<ExpressionId> parts(children(part).begin(), children(part).end());
    if (std::erase(parts, kEpsilon) > 0) return repeat(alternate(parts), min, max);
  }
  const Node inner = node(part);
  if (max == 1) return min == 1 || inner.nullable ? part : alternate(kEpsilon, part);
  if (inner.kind == Kind::repetition) {
    // x{a,b}{c,d} is x{ac,bd} where no count in between is left out.
    const uint32_t low = times(inner.min(), min), high = times(inner.max(), max);
    if ((min == max || inner.min() <= 1) && low != kUnbounded && fits(high, inner.max(), max)) {
      return repeat(inner.first(), low, high);
    }
  }
  return add({.kind = Kind::repetition,
              .nullable = min == 0,
              .plain = inner.plain,
              .depth = static_cast<uint16_t>(inner.depth + 1),
              .max_length = times(inner.max_length, max),
              .min_length = times(inner.min_length, min),
              .a = static_cast<uint32_t>(part),
              .b = min,
              .c = max});
}

ExpressionId Expressions::multiples_of(uint32_t divisor, uint32_t fraction_digits) {
  require(divisor > 0 && divisor <= 1'000'000'000, "multiples of {}, which is not in [1, 10^9]",
          divisor);
  // is_empty() and byte_classes() have to tell all digits apart.
  for (const char byte : std::string_view(".0123456789")) {
    bytes(ByteSet::of(static_cast<uint8_t>(byte)));
  }
  return multiples(0, divisor, fraction_digits * 2);
}

// c is twice the number of digits that may follow behind the point, and odd behind it.
ExpressionId Expressions::multiples(uint64_t remainder, uint32_t divisor, uint32_t c) {
  uint64_t scaled = remainder;
  for (uint32_t digit = 0; digit < c / 2; ++digit) scaled = scaled * 10 % divisor;
  if (c == 1 && scaled != 0) return kNone;
  return add({.kind = Kind::multiples,
              .nullable = scaled == 0,
              .depth = 1,
              .max_length = kUnbounded,
              .min_length = scaled == 0 ? 0U : 1U,
              .a = static_cast<uint32_t>(remainder),
              .b = divisor,
              .c = c});
}

ExpressionId Expressions::one_of(std::vector<std::string> strings) {
  // A node of the trie on the way to the current string: what follows each of its bytes.
  struct TrieNode {
    bool ends = false;
    std::map<ExpressionId, ByteSet> next;
  };
  std::ranges::sort(strings);
  const auto common_prefix = [](std::string_view a, std::string_view b) {
    return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  };
  std::vector<TrieNode> path(1);
  const auto close_to = [&](size_t depth, std::string_view text) {
    while (path.size() > depth + 1) {
      std::vector<ExpressionId> parts;
      if (path.back().ends) parts.push_back(kEpsilon);
      for (const auto& [rest, set] : path.back().next)
        parts.push_back(concatenate(bytes(set), rest));
      path.pop_back();
      path.back().next[alternate(parts)].add(static_cast<uint8_t>(text[path.size() - 1]));
    }
  };
  for (size_t i = 0; i < strings.size(); ++i) {
    const std::string& text = strings[i];
    // Nodes are needed as far as the string shares its beginning with the one before or behind it.
    const size_t shared = i + 1 < strings.size() ? common_prefix(text, strings[i + 1]) : 0;
    const size_t depth = std::max(path.size() - 1, shared);
    spend(kTrieSteps * (depth + 1 - path.size()) + 1);
    path.resize(depth + 1);
    if (depth == text.size()) {
      path.back().ends = true;
    } else {
      const ExpressionId rest = literal(std::string_view(text).substr(depth + 1));
      path.back().next[rest].add(static_cast<uint8_t>(text[depth]));
    }
    close_to(shared, text);
  }
  std::vector<ExpressionId> parts;
  if (path[0].ends) parts.push_back(kEpsilon);
  for (const auto& [rest, set] : path[0].next) parts.push_back(concatenate(bytes(set), rest));
  return alternate(parts);
}

}  // namespace heed::constrain
