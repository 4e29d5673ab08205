// How alternations and intersections are simplified.
#include <algorithm>
#include <array>
#include <functional>
#include <tuple>

#include "heed/constrain/expressions.h"

namespace heed::constrain {
namespace {

void sort_unique(std::vector<ExpressionId>& parts) {
  std::ranges::sort(parts);
  const auto rest = std::ranges::unique(parts);
  parts.erase(rest.begin(), rest.end());
}

}  // namespace

// The parts, those of parts of the same kind in their place, ascending, each once.
std::vector<ExpressionId> Expressions::flat(Kind kind, std::span<const ExpressionId> parts) const {
  std::vector<ExpressionId> result;
  for (const ExpressionId part : parts) {
    if (node(part).kind == kind) {
      const std::span<const ExpressionId> inner = children(part);
      result.insert(result.end(), inner.begin(), inner.end());
    } else {
      result.push_back(part);
    }
  }
  sort_unique(result);
  return result;
}

ExpressionId Expressions::add_list(Kind kind, std::span<const ExpressionId> parts) {
  if (parts.size() == 1) return parts[0];
  const bool is_union = kind == Kind::alternation;
  Node list = {.kind = kind,
               .nullable = !is_union,
               .plain = is_union,
               .max_length = is_union ? 0 : kUnbounded,
               .min_length = is_union ? kUnbounded : 0};
  for (const ExpressionId part : parts) {
    const Node& each = node(part);
    list.nullable = is_union ? list.nullable || each.nullable : list.nullable && each.nullable;
    list.plain = list.plain && each.plain;
    list.depth = std::max<uint16_t>(list.depth, static_cast<uint16_t>(each.depth + 1));
    list.max_length = is_union ? std::max(list.max_length, each.max_length)
                               : std::min(list.max_length, each.max_length);
    list.min_length = is_union ? std::min(list.min_length, each.min_length)
                               : std::max(list.min_length, each.min_length);
  }
  return add(list, parts);
}

// Whether x and the complement of x are among the parts.
bool Expressions::has_opposites(std::span<const ExpressionId> parts) const {
  return std::ranges::any_of(parts, [&](ExpressionId part) {
    return node(part).kind == Kind::complement &&
           std::ranges::binary_search(parts, node(part).first());
  });
}

ExpressionId Expressions::alternate(ExpressionId first, ExpressionId second) {
  if (first == second || second == kNone) return first;
  if (first == kNone) return second;
  return alternate(std::array{first, second});
}

ExpressionId Expressions::alternate(std::span<const ExpressionId> given) {
  spend(given.size());
  std::vector<ExpressionId> parts = flat(Kind::alternation, given);
  std::erase(parts, kNone);
  if (parts.size() > 1) {
    merge_bytes(parts);
    factor_heads(parts);
    merge_equal_tails(parts);
    merge_counts(parts);
    sort_unique(parts);
    const auto is_nullable = [&](ExpressionId part) { return part != kEpsilon && nullable(part); };
    if (std::ranges::any_of(parts, is_nullable)) std::erase(parts, kEpsilon);
  }
  if (parts.empty()) return kNone;
  if (std::ranges::binary_search(parts, kAny) || has_opposites(parts)) return kAny;
  return add_list(Kind::alternation, parts);
}

// Single bytes become one set.
void Expressions::merge_bytes(std::vector<ExpressionId>& parts) {
  ByteSet set;
  std::erase_if(parts, [&](ExpressionId part) {
    if (node(part).kind != Kind::bytes) return false;
    set |= byte_set(part);
    return true;
  });
  if (!set.empty()) parts.push_back(bytes(set));
}

// x y | x z becomes x (y|z).
void Expressions::factor_heads(std::vector<ExpressionId>& parts) {
  if (factoring_ >= kMaxFactoring) return;
  std::ranges::sort(parts, {}, [&](ExpressionId part) { return std::pair(head(part), part); });
  std::vector<ExpressionId> result, tails;
  for (size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    while (end < parts.size() && head(parts[end]) == head(parts[begin])) ++end;
    if (end - begin == 1) {
      result.push_back(parts[begin]);
      continue;
    }
    tails.clear();
    for (size_t i = begin; i < end; ++i) tails.push_back(tail(parts[i]));
    ++factoring_;
    result.push_back(concatenate(head(parts[begin]), alternate(tails)));
    --factoring_;
  }
  parts = std::move(result);
}

// [a] x | [b] x becomes [ab] x.
void Expressions::merge_equal_tails(std::vector<ExpressionId>& parts) {
  const auto begins_with_bytes = [&](ExpressionId part) {
    return node(part).kind == Kind::concatenation && node(head(part)).kind == Kind::bytes;
  };
  const auto rest = std::ranges::partition(parts, std::not_fn(begins_with_bytes));
  if (rest.size() < 2) return;
  std::ranges::sort(rest, {}, [&](ExpressionId part) { return std::pair(tail(part), part); });
  std::vector<ExpressionId> merged;
  for (auto begin = rest.begin(), end = begin; begin != rest.end(); begin = end) {
    ByteSet set;
    for (; end != rest.end() && tail(*end) == tail(*begin); ++end) set |= byte_set(head(*end));
    merged.push_back(end - begin == 1 ? *begin : prepend(bytes(set), tail(*begin)));
  }
  parts.erase(rest.begin(), rest.end());
  parts.insert(parts.end(), merged.begin(), merged.end());
}

// x{a,b} y | x{c,d} y becomes x{a,d} y where no count in between is left out.
void Expressions::merge_counts(std::vector<ExpressionId>& parts) {
  const auto is_counted = [&](ExpressionId part) {
    return node(head(part)).kind == Kind::repetition;
  };
  const auto rest = std::ranges::partition(parts, std::not_fn(is_counted));
  if (rest.size() < 2) return;
  std::ranges::sort(rest, {}, [&](ExpressionId part) {
    const Node& counted = node(head(part));
    return std::tuple(counted.a, tail(part), counted.min(), counted.max());
  });
  std::vector<ExpressionId> merged;
  for (auto begin = rest.begin(), end = begin; begin != rest.end(); begin = end) {
    const Node first = node(head(*begin));
    const ExpressionId after = tail(*begin);
    uint32_t max = first.max();
    for (end = begin + 1; end != rest.end(); ++end) {
      const Node& next = node(head(*end));
      if (next.a != first.a || tail(*end) != after || next.min() > uint64_t{max} + 1) break;
      max = std::max(max, next.max());
    }
    merged.push_back(
        end - begin == 1 ? *begin : concatenate(repeat(first.first(), first.min(), max), after));
  }
  parts.erase(rest.begin(), rest.end());
  parts.insert(parts.end(), merged.begin(), merged.end());
}

ExpressionId Expressions::intersect(ExpressionId first, ExpressionId second) {
  if (first == second || second == kAny) return first;
  if (first == kAny) return second;
  return intersect(std::array{first, second});
}

ExpressionId Expressions::intersect(std::span<const ExpressionId> given) {
  spend(given.size());
  std::vector<ExpressionId> parts = flat(Kind::intersection, given);
  std::erase(parts, kAny);
  if (parts.empty()) return kAny;
  if (std::ranges::binary_search(parts, kNone)) return kNone;
  ByteSet set = ByteSet::all();
  const size_t sets = std::erase_if(parts, [&](ExpressionId part) {
    if (node(part).kind != Kind::bytes) return false;
    set &= byte_set(part);
    return true;
  });
  if (set.empty()) return kNone;
  if (sets > 0) parts.push_back(bytes(set));
  merge_complements(parts);
  sort_unique(parts);
  if (std::ranges::binary_search(parts, kEpsilon)) {
    return std::ranges::all_of(parts, [&](ExpressionId part) { return nullable(part); }) ? kEpsilon
                                                                                         : kNone;
  }
  if (std::ranges::binary_search(parts, kNone) || has_opposites(parts)) return kNone;
  return add_list(Kind::intersection, parts);
}

// ~x & ~y becomes ~(x|y).
void Expressions::merge_complements(std::vector<ExpressionId>& parts) {
  std::vector<ExpressionId> excluded;
  std::erase_if(parts, [&](ExpressionId part) {
    if (node(part).kind != Kind::complement) return false;
    excluded.push_back(node(part).first());
    return true;
  });
  if (!excluded.empty()) parts.push_back(complement(alternate(excluded)));
}

}  // namespace heed::constrain
