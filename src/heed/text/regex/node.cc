#include "heed/text/regex/node.h"

#include <algorithm>

#include "heed/base/reader_limits.h"

namespace heed::text {
namespace {

using Kind = RegexNode::Kind;

std::optional<uint32_t> bounded(uint64_t length) {
  if (length > limits::kMaxLookBehind) return std::nullopt;
  return static_cast<uint32_t>(length);
}

RegexNode parent(Kind kind, RegexNode child) {
  RegexNode node;
  node.kind = kind;
  node.can_be_empty = child.can_be_empty;
  node.length = child.length;
  node.children.push_back(std::move(child));
  return node;
}

}  // namespace

RegexNode set_node(uint32_t set) {
  RegexNode node;
  node.kind = Kind::set;
  node.set = set;
  node.can_be_empty = false;
  node.length = 1;
  return node;
}

RegexNode anchor_node(Anchor anchor) {
  RegexNode node;
  node.kind = Kind::anchor;
  node.anchor = anchor;
  return node;
}

RegexNode sequence_node(std::vector<RegexNode> children) {
  RegexNode node;
  node.kind = Kind::sequence;
  for (const RegexNode& child : children) {
    node.can_be_empty = node.can_be_empty && child.can_be_empty;
    if (node.length)
      node.length = child.length ? bounded(uint64_t{*node.length} + *child.length) : std::nullopt;
  }
  node.children = std::move(children);
  return node;
}

RegexNode alternatives_node(std::vector<RegexNode> children) {
  RegexNode node;
  node.kind = Kind::alternatives;
  const auto length = children.front().length;
  const auto same_length = [&](const RegexNode& child) { return child.length == length; };
  node.can_be_empty = std::any_of(children.begin(), children.end(),
                                  [](const RegexNode& child) { return child.can_be_empty; });
  node.length = std::all_of(children.begin(), children.end(), same_length) ? length : std::nullopt;
  node.children = std::move(children);
  return node;
}

RegexNode repeat_node(RegexNode child, uint32_t min, uint32_t max, Repetition repetition) {
  RegexNode node = parent(Kind::repeat, std::move(child));
  node.can_be_empty = node.can_be_empty || min == 0;
  node.length = node.length && min == max ? bounded(uint64_t{*node.length} * min) : std::nullopt;
  node.min = min;
  node.max = max;
  node.repetition = repetition;
  return node;
}

RegexNode atomic_node(RegexNode child) { return parent(Kind::atomic, std::move(child)); }

RegexNode lookaround_node(RegexNode child, bool lookbehind, bool negated) {
  RegexNode node = parent(Kind::lookaround, std::move(child));
  node.can_be_empty = true;
  node.length = 0;
  node.lookbehind = lookbehind;
  node.negated = negated;
  return node;
}

}  // namespace heed::text
