#include "heed/text/piece_automaton.h"

#include <limits>

#include "heed/base/error.h"

namespace heed::text {
namespace {

std::vector<PieceAutomaton::Piece> pieces_of(const Vocabulary& vocabulary) {
  std::vector<PieceAutomaton::Piece> pieces;
  pieces.reserve(static_cast<size_t>(vocabulary.count()));
  for (int32_t id = 0; id < vocabulary.end(); ++id)
    if (const std::string* piece = vocabulary.piece(id))
      if (vocabulary.find(*piece) == id) pieces.push_back({*piece, id});
  return pieces;
}

}  // namespace

PieceAutomaton::PieceAutomaton(const Vocabulary& vocabulary)
    : PieceAutomaton(pieces_of(vocabulary)) {}

PieceAutomaton PieceAutomaton::backward(const std::vector<Piece>& pieces) {
  std::vector<std::string> reversed;
  for (const Piece& piece : pieces) reversed.emplace_back(piece.text.rbegin(), piece.text.rend());
  std::vector<Piece> result;
  for (size_t i = 0; i < pieces.size(); ++i) result.push_back({reversed[i], pieces[i].id});
  return PieceAutomaton(std::move(result));
}

PieceAutomaton::PieceAutomaton(std::vector<Piece> pieces) : nodes_(1) {
  std::erase_if(pieces, [](const Piece& piece) { return piece.text.empty(); });
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.text < b.text; });
  const auto same = [](const Piece& a, const Piece& b) { return a.text == b.text; };
  pieces.erase(std::unique(pieces.begin(), pieces.end(), same), pieces.end());
  build_tree(std::move(pieces));
  link();
}

void PieceAutomaton::build_tree(std::vector<Piece> pieces) {
  // The pieces below a node, which agree in their first `depth` bytes, are [begin, end).
  struct Task {
    State node;
    uint32_t begin, end;
  };
  std::vector<Task> level{{kStart, 0, static_cast<uint32_t>(pieces.size())}}, deeper;
  for (uint32_t depth = 0; !level.empty(); ++depth) {
    deeper.clear();
    for (auto [node, begin, end] : level) {
      if (begin < end && pieces[begin].text.size() == depth) nodes_[node].id = pieces[begin++].id;
      nodes_[node].first_child = static_cast<State>(nodes_.size());
      while (begin < end) {
        const auto label = static_cast<uint8_t>(pieces[begin].text[depth]);
        uint32_t after = begin;
        while (after < end && static_cast<uint8_t>(pieces[after].text[depth]) == label) ++after;
        deeper.push_back({static_cast<State>(nodes_.size()), begin, after});
        nodes_.emplace_back();
        nodes_.back().label = label;
        nodes_.back().depth = depth + 1;
        ++nodes_[node].children;
        begin = after;
      }
    }
    require(nodes_.size() < std::numeric_limits<State>::max() / 2,
            "the pieces of the vocabulary are too long");
    std::swap(level, deeper);
  }
}

/// Nodes are ordered by depth and links lead to shallower nodes, so the target of a link already
/// has its own links.
void PieceAutomaton::link() {
  for (State node = 0; node < nodes_.size(); ++node) {
    const State first = nodes_[node].first_child;
    for (State child = first; child < first + nodes_[node].children; ++child) {
      Node& linked = nodes_[child];
      if (node == kStart)
        from_start_[linked.label] = child;
      else
        linked.fail = next(nodes_[node].fail, linked.label);
      linked.shorter = longest_suffix(linked.fail);
    }
  }
}

}  // namespace heed::text
