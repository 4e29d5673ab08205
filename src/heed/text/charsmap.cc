#include "heed/text/charsmap.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/reader_limits.h"
#include "heed/base/rounding.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

uint32_t word_at(std::string_view bytes, size_t index) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + index * sizeof(word), sizeof(word));
  return word;
}

uint32_t value_of(uint32_t unit) { return unit & 0x7FFFFFFFu; }
uint32_t label_of(uint32_t unit) { return unit & ((1u << 31) | 0xFFu); }
bool has_value(uint32_t unit) { return (unit & (1u << 8)) != 0; }
/// Child `label` of a node is at index children_of(node, unit) ^ label.
size_t children_of(size_t node, uint32_t unit) {
  return node ^ ((unit >> 10) << ((unit & (1u << 9)) >> 6));
}

/// The units of a double-array trie as darts-clone lays them out: bits 0-7 are the label of the
/// edge to the node, bit 8 is set if child 0 is a value, bits 9-31 are the distance to the
/// children. A value has bit 31 set.
class TrieCheck {
 public:
  TrieCheck(std::string_view trie, std::string_view replacements)
      : trie_(trie), replacements_(replacements), states_(trie.size() / sizeof(uint32_t)) {}

  /// Walks everything that can be reached from the root, depth first.
  bool valid() {
    if (states_.empty() || !open(0)) return false;
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next_label == 256) {
        close();
        continue;
      }
      const uint32_t label = step.next_label++;
      const size_t child = children_of(step.node, unit(step.node)) ^ label;
      if (label_of(unit(child)) != label) continue;
      if (states_[child].visit == Visit::open) return false;  // a cycle
      if (states_[child].visit == Visit::unseen && !open(child)) return false;
      if (states_[child].visit == Visit::done) note_child(step.node, states_[child]);
    }
    const State& root = states_[0];
    return root.values <= kMaxValues && root.height <= limits::kMaxCharsmapKey &&
           root.min_depth == 0;
  }

 private:
  enum class Visit : uint8_t { unseen, open, done };
  struct State {
    Visit visit = Visit::unseen;
    uint8_t values = 0;   // most values on a path from here, at most kMaxValues + 1
    uint16_t height = 0;  // bytes of the longest path from here, at most kMaxCharsmapKey + 1
    /// The depth that this node needs, so that each replacement below it has at most
    /// kMaxCharsmapGrowth bytes for each byte of its key.
    uint8_t min_depth = 0;
  };
  struct Step {
    size_t node;
    uint32_t next_label;
  };
  /// The library has room for this many values along one path.
  static constexpr uint8_t kMaxValues = 32;

  uint32_t unit(size_t node) const { return word_at(trie_, node); }

  bool open(size_t node) {
    // Child `label` is at children ^ label, so all 256 indices must be inside the table.
    const size_t children = children_of(node, unit(node));
    if ((children | 0xFF) >= states_.size()) return false;
    if (has_value(unit(node)) && value_of(unit(children)) >= replacements_.size()) return false;
    states_[node].visit = Visit::open;
    path_.push_back({node, 0});
    return true;
  }

  void close() {
    const size_t node = path_.back().node;
    path_.pop_back();
    State& state = states_[node];
    state.visit = Visit::done;
    if (has_value(unit(node))) {
      if (state.values <= kMaxValues) ++state.values;
      const size_t begin = value_of(unit(children_of(node, unit(node))));
      const size_t length = replacements_.find('\0', begin) - begin;
      const size_t key = ceil_div(length, limits::kMaxCharsmapGrowth);
      state.min_depth = std::max(state.min_depth, static_cast<uint8_t>(key));
    }
    if (!path_.empty()) note_child(path_.back().node, state);
  }

  void note_child(size_t node, const State& child) {
    constexpr uint16_t kTooHigh = limits::kMaxCharsmapKey + 1;
    State& state = states_[node];
    state.values = std::max(state.values, child.values);
    state.height =
        std::max(state.height, std::min(kTooHigh, static_cast<uint16_t>(child.height + 1)));
    const uint8_t depth = child.min_depth > 0 ? child.min_depth - 1 : 0;
    state.min_depth = std::max(state.min_depth, depth);
  }

  std::string_view trie_;
  std::string_view replacements_;
  std::vector<State> states_;
  std::vector<Step> path_;
};

/// Bytes of the longest replacement: each ends with a zero byte.
size_t longest_run(std::string_view replacements) {
  size_t longest = 0;
  for (size_t begin = 0; begin < replacements.size();) {
    const size_t end = replacements.find('\0', begin);
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

}  // namespace

/// [size of the trie in bytes, 4 bytes][trie][replacements, each ended by a zero byte]
bool is_valid_charsmap(std::string_view map) {
  if (map.empty()) return true;
  if (map.size() <= sizeof(uint32_t)) return false;
  const size_t trie_size = word_at(map, 0);
  map.remove_prefix(sizeof(uint32_t));
  if (trie_size >= map.size() || trie_size % sizeof(uint32_t) != 0) return false;
  const std::string_view replacements = map.substr(trie_size);
  if (replacements.back() != '\0' || longest_run(replacements) > limits::kMaxCharsmapReplacement)
    return false;
  return TrieCheck(map.substr(0, trie_size), replacements).valid();
}

Charsmap::Charsmap(std::string bytes, const std::string& name) : bytes_(std::move(bytes)) {
  require(
      !bytes_.empty() && is_valid_charsmap(bytes_) && is_valid_utf8(replacements()),
      "{}: the normalisation table (precompiled_charsmap) points outside itself, is too deep or "
      "grows texts too much",
      name);
}

std::string_view Charsmap::trie() const {
  return std::string_view(bytes_).substr(sizeof(uint32_t), word_at(bytes_, 0));
}

std::string_view Charsmap::replacements() const {
  return std::string_view(bytes_).substr(sizeof(uint32_t) + word_at(bytes_, 0));
}

std::optional<Charsmap::Match> Charsmap::match(std::string_view text, bool longest) const {
  const std::string_view units = trie();
  std::optional<Match> best;
  size_t node = children_of(0, word_at(units, 0));
  for (size_t size = 0; size < text.size(); ++size) {
    const auto label = static_cast<uint8_t>(text[size]);
    if (label == 0) break;
    node ^= label;
    const uint32_t unit = word_at(units, node);
    if (label_of(unit) != label) break;
    node = children_of(node, unit);
    if (!has_value(unit)) continue;
    const std::string_view found = replacements().substr(value_of(word_at(units, node)));
    if (is_continuation(found[0])) break;  // the middle of a code point
    best = Match{size + 1, found.substr(0, found.find('\0'))};
    if (!longest) break;
  }
  return best;
}

}  // namespace heed::text
