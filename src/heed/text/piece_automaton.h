#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "heed/text/step_check.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

/// Finds all pieces of a set in a text at once (Aho and Corasick, 1975), in time proportional to
/// the text plus the number of pieces found, however long the pieces are.
///
/// A state stands for the longest suffix of the bytes read so far that is a prefix of some piece.
class PieceAutomaton {
 public:
  using State = uint32_t;
  static constexpr State kStart = 0;

  struct Piece {
    std::string_view text;
    int32_t id;
  };
  /// Empty pieces are left out. Of equal pieces the first wins.
  explicit PieceAutomaton(std::vector<Piece> pieces);
  /// The pieces of a vocabulary with the ids that find() gives.
  explicit PieceAutomaton(const Vocabulary& vocabulary);

  /// The pieces from their last byte to the first, for for_each_longest().
  static PieceAutomaton backward(const std::vector<Piece>& pieces);

  bool empty() const { return nodes_.size() == 1; }

  /// The state after reading one more byte.
  State next(State state, uint8_t byte) const {
    while (state != kStart) {
      if (const State child = child_of(nodes_[state], byte)) return child;
      state = nodes_[state].fail;
    }
    return from_start_[byte];
  }

  /// Calls visit(bytes, id) for each piece that is a suffix of what was read, the longest first.
  template <typename Visit>
  void for_each_suffix(State state, Visit&& visit) const {
    for (state = longest_suffix(state); state != kStart; state = nodes_[state].shorter)
      visit(size_t{nodes_[state].depth}, nodes_[state].id);
  }

  /// Of backward(): calls visit(begin, bytes, id) for the longest piece that begins at each byte of
  /// `text`, from the last byte to byte `first`. Can be interrupted.
  template <typename Visit>
  void for_each_longest(std::string_view text, size_t first, Visit&& visit) const {
    State state = kStart;
    StepCheck check;
    for (size_t begin = text.size(); begin-- > first; check.step()) {
      state = next(state, static_cast<uint8_t>(text[begin]));
      const Node& longest = nodes_[longest_suffix(state)];
      if (longest.depth > 0) visit(begin, size_t{longest.depth}, longest.id);
    }
  }

  /// Calls visit(bytes, id) for each piece that is a prefix of `text`, the shortest first. Returns
  /// the state of `text` if it is a prefix of some piece, else kStart.
  template <typename Visit>
  State for_each_prefix(std::string_view text, Visit&& visit) const {
    State state = kStart;
    for (const char byte : text) {
      state = child_of(nodes_[state], static_cast<uint8_t>(byte));
      if (state == kStart) return kStart;
      if (nodes_[state].id >= 0) visit(size_t{nodes_[state].depth}, nodes_[state].id);
    }
    return state;
  }

 private:
  /// The children of a node follow each other, in the order of their labels.
  struct Node {
    State first_child = kStart;
    State fail = kStart;     // the longest proper suffix that is a prefix of some piece
    State shorter = kStart;  // the longest proper suffix that is a piece
    uint32_t depth = 0;      // bytes
    int32_t id = -1;         // -1 where no piece ends
    uint16_t children = 0;
    uint8_t label = 0;  // the last byte
  };

  /// kStart where there is none.
  State child_of(const Node& node, uint8_t label) const {
    const Node* begin = nodes_.data() + node.first_child;
    const Node* end = begin + node.children;
    const Node* found = std::lower_bound(
        begin, end, label, [](const Node& a, uint8_t wanted) { return a.label < wanted; });
    return found != end && found->label == label ? static_cast<State>(found - nodes_.data())
                                                 : kStart;
  }
  State longest_suffix(State state) const {
    return nodes_[state].id >= 0 ? state : nodes_[state].shorter;
  }

  void build_tree(std::vector<Piece> pieces);
  void link();

  std::vector<Node> nodes_;  // by depth; the first is the start
  std::array<State, 256> from_start_{};
};

}  // namespace heed::text
