#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

/// Pieces and their ids, which may have gaps. When a piece has two ids, find() gives the last.
class Vocabulary {
 public:
  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  /// From a JSON object of pieces and ids.
  static Vocabulary read(const nlohmann::json& json, const std::string& file);

  void add(std::string piece, int32_t id);
  /// Allocates room for `pieces` pieces.
  void reserve(size_t pieces);

  std::optional<int32_t> find(std::string_view piece) const;
  /// nullptr when no piece has this id. Valid until the next piece is added.
  const std::string* piece(int32_t id) const;
  /// How many different pieces there are.
  int32_t count() const { return static_cast<int32_t>(entries_.size()); }
  /// The highest id plus one.
  int32_t end() const { return static_cast<int32_t>(by_id_.size()); }

 private:
  struct Entry {
    std::string piece;
    int32_t id;
  };
  /// A slot of the hash table; free when `entry` is negative.
  struct Slot {
    uint32_t hash = 0;
    int32_t entry = -1;
  };
  /// The slot of the piece, or the free slot where it would go.
  size_t slot_of(std::string_view piece, uint32_t hash) const;

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;     // a power of two; at most half are taken
  std::vector<int32_t> by_id_;  // index into entries_, or -1
};

}  // namespace heed::text
