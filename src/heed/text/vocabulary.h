#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

/// Pieces and their numbers, which may have gaps. Two numbers may have one piece: it is then found
/// under the last.
class Vocabulary {
 public:
  /// Numbers of pieces are below this; a larger one is a broken file.
  static constexpr int32_t kMostIds = 1 << 24;

  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  /// A JSON object of pieces and numbers.
  static Vocabulary read(const nlohmann::json& json, const std::string& file);

  void add(std::string piece, int32_t id);
  /// Makes room for so many pieces.
  void reserve(size_t pieces);

  std::optional<int32_t> find(std::string_view piece) const;
  /// nullptr where no piece has this number; valid until the next piece is added.
  const std::string* piece(int32_t id) const;
  /// How many different pieces there are.
  int32_t count() const { return static_cast<int32_t>(entries_.size()); }
  /// The highest number plus one.
  int32_t end() const { return static_cast<int32_t>(by_id_.size()); }

 private:
  struct Entry {
    std::string piece;
    int32_t id;
  };
  /// A place of the hash table, free where there is no entry.
  struct Slot {
    uint32_t hash = 0;
    int32_t entry = -1;
  };
  /// Where the piece is, or the free place where it would be.
  size_t slot_of(std::string_view piece, uint32_t hash) const;

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;     // a power of two of them, at most half of which are taken
  std::vector<int32_t> by_id_;  // its entry, or -1
};

}  // namespace heed::text
