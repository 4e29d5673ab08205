#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "heed/text/vocabulary.h"

namespace heed::text {

/// The pieces of a vocabulary by their beginnings.
class PieceTrie {
 public:
  explicit PieceTrie(const Vocabulary& vocabulary);

  /// Calls visit(bytes, id) for each piece that `text` begins with, the shortest first.
  template <typename Visit>
  void for_each_prefix(std::string_view text, Visit&& visit) const {
    const Node* node = nodes_.data();
    for (size_t size = 0; size < text.size();) {
      node = child(*node, static_cast<uint8_t>(text[size]));
      if (node == nullptr) return;
      ++size;
      if (node->id >= 0) visit(size, node->id);
    }
  }

 private:
  /// The children of a node follow each other, in the order of their labels.
  struct Node {
    uint32_t first_child = 0;
    uint16_t children = 0;
    uint8_t label = 0;
    int32_t id = -1;
  };

  const Node* child(const Node& node, uint8_t label) const {
    const Node* begin = nodes_.data() + node.first_child;
    const Node* end = begin + node.children;
    const Node* found = std::lower_bound(
        begin, end, label, [](const Node& a, uint8_t wanted) { return a.label < wanted; });
    return found != end && found->label == label ? found : nullptr;
  }

  std::vector<Node> nodes_;
};

}  // namespace heed::text
