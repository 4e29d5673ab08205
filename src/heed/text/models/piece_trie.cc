#include "heed/text/models/piece_trie.h"

namespace heed::text {

PieceTrie::PieceTrie(const Vocabulary& vocabulary) : nodes_(1) {
  struct Piece {
    std::string_view text;
    int32_t id;
  };
  std::vector<Piece> pieces;
  for (int32_t id = 0; id < vocabulary.end(); ++id)
    if (const std::string* piece = vocabulary.piece(id))
      if (!piece->empty() && vocabulary.find(*piece) == id) pieces.push_back({*piece, id});
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.text < b.text; });

  // The pieces below a node are a range of them that agree in their first `depth` bytes.
  struct Task {
    size_t node, begin, end, depth;
  };
  std::vector<Task> tasks{{0, 0, pieces.size(), 0}};
  for (size_t next = 0; next < tasks.size(); ++next) {
    auto [node, begin, end, depth] = tasks[next];
    if (begin < end && pieces[begin].text.size() == depth) nodes_[node].id = pieces[begin++].id;
    nodes_[node].first_child = static_cast<uint32_t>(nodes_.size());
    while (begin < end) {
      const auto label = static_cast<uint8_t>(pieces[begin].text[depth]);
      size_t after = begin;
      while (after < end && static_cast<uint8_t>(pieces[after].text[depth]) == label) ++after;
      tasks.push_back({nodes_.size(), begin, after, depth + 1});
      nodes_.push_back({0, 0, label, -1});
      ++nodes_[node].children;
      begin = after;
    }
  }
}

}  // namespace heed::text
