#include "heed/text/sentencepiece_check.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "heed/base/error.h"

namespace heed::text {
namespace {

// Field numbers of sentencepiece_model.proto.
constexpr uint64_t kNormalizerSpec = 3;
constexpr uint64_t kDenormalizerSpec = 5;
constexpr uint64_t kPrecompiledCharsmap = 2;

/// One field of a message: its number, and its bytes when it has a length.
struct Field {
  uint64_t number = 0;
  std::string_view bytes;
};

/// Reads the fields of a protocol-buffer message one after the other.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  /// False at the end, and at the first thing that is no field: then broken() is true.
  bool next(Field& field) {
    if (rest_.empty() || broken_) return false;
    const uint64_t tag = varint();
    field = {tag >> 3, {}};
    switch (tag & 7) {
      case 0:
        varint();
        break;
      case 1:
        take(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        take(4);
        break;
      default:
        broken_ = true;
    }
    return !broken_;
  }

  bool broken() const { return broken_; }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::string_view byte = take(1);
      if (byte.empty()) return 0;
      const auto bits = static_cast<uint8_t>(byte[0]);
      value |= static_cast<uint64_t>(bits & 0x7F) << shift;
      if (bits < 0x80) return value;
    }
    broken_ = true;
    return 0;
  }

  std::string_view take(uint64_t count) {
    if (broken_ || count > rest_.size()) {
      broken_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  bool broken_ = false;
};

uint32_t word_at(std::string_view bytes, size_t index) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + index * sizeof(word), sizeof(word));
  return word;
}

/// The units of a double-array trie as darts-clone lays them out: bits 0-7 are the label that leads
/// here, bit 8 says that a value hangs at child 0, bits 9-31 are the distance to the children. A
/// value has bit 31 set.
class TrieCheck {
 public:
  TrieCheck(std::string_view trie, size_t values_end)
      : trie_(trie), values_end_(values_end), states_(trie.size() / sizeof(uint32_t)) {}

  /// Walks depth first all that can be reached from the root.
  bool sound() {
    if (states_.empty() || !open(0)) return false;
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next_label == 256) {
        close();
        continue;
      }
      const uint32_t label = step.next_label++;
      const size_t child = children_of(step.node) ^ label;
      if (label_of(word_at(trie_, child)) != label) continue;
      if (states_[child].visit == Visit::open) return false;  // a cycle
      if (states_[child].visit == Visit::unseen && !open(child)) return false;
      if (states_[child].visit == Visit::done) note_values(step.node, states_[child].values);
    }
    return states_[0].values <= kMostValues;
  }

 private:
  enum class Visit : uint8_t { unseen, open, done };
  struct State {
    Visit visit = Visit::unseen;
    uint8_t values = 0;  // most values on a path from here, kMostValues + 1 for more than that
  };
  struct Step {
    size_t node;
    uint32_t next_label;
  };
  /// The library has room for so many values met along one text.
  static constexpr uint8_t kMostValues = 32;

  static uint32_t value(uint32_t unit) { return unit & 0x7FFFFFFFu; }
  static uint32_t label_of(uint32_t unit) { return unit & ((1u << 31) | 0xFFu); }

  size_t children_of(size_t node) const {
    const uint32_t unit = word_at(trie_, node);
    return node ^ ((unit >> 10) << ((unit & (1u << 9)) >> 6));
  }

  bool has_value(size_t node) const { return (word_at(trie_, node) & (1u << 8)) != 0; }

  bool open(size_t node) {
    // Child `label` is at children ^ label, so all 256 places must be inside.
    const size_t children = children_of(node);
    if ((children | 0xFF) >= states_.size()) return false;
    if (has_value(node) && value(word_at(trie_, children)) >= values_end_) return false;
    states_[node].visit = Visit::open;
    path_.push_back({node, 0});
    return true;
  }

  void close() {
    const size_t node = path_.back().node;
    path_.pop_back();
    State& state = states_[node];
    state.visit = Visit::done;
    if (has_value(node) && state.values <= kMostValues) ++state.values;
    if (!path_.empty()) note_values(path_.back().node, state.values);
  }

  void note_values(size_t node, uint8_t values) {
    states_[node].values = std::max(states_[node].values, values);
  }

  std::string_view trie_;
  size_t values_end_;
  std::vector<State> states_;
  std::vector<Step> path_;
};

/// [size of the trie in bytes, 4 bytes][trie][replacements, each ended by a zero byte]
bool is_sound_charsmap(std::string_view map) {
  if (map.empty()) return true;
  if (map.size() <= sizeof(uint32_t)) return false;
  const size_t trie_size = word_at(map, 0);
  map.remove_prefix(sizeof(uint32_t));
  if (trie_size >= map.size() || trie_size % sizeof(uint32_t) != 0) return false;
  const std::string_view replacements = map.substr(trie_size);
  if (replacements.back() != '\0') return false;
  return TrieCheck(map.substr(0, trie_size), replacements.size()).sound();
}

}  // namespace

void check_sentencepiece_model(std::string_view serialized, const std::string& name) {
  require(!serialized.empty(), "{} is empty, expected a SentencePiece model", name);
  FieldReader model(serialized);
  Field field;
  while (model.next(field)) {
    if (field.number != kNormalizerSpec && field.number != kDenormalizerSpec) continue;
    FieldReader spec(field.bytes);
    Field part;
    while (spec.next(part))
      require(part.number != kPrecompiledCharsmap || is_sound_charsmap(part.bytes),
              "{} is a broken SentencePiece model: its normalisation table leads outside itself",
              name);
    require(!spec.broken(), "{} is a broken SentencePiece model: its normaliser is cut off", name);
  }
  require(!model.broken(),
          "{} is not a SentencePiece model: its bytes are no protocol-buffer message", name);
}

}  // namespace heed::text
