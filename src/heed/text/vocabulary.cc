#include "heed/text/vocabulary.h"

#include <bit>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/reader_limits.h"

namespace heed::text {
namespace {

uint32_t hash_of(std::string_view piece) {
  return static_cast<uint32_t>(std::hash<std::string_view>()(piece));
}

}  // namespace

Vocabulary Vocabulary::read(const nlohmann::json& json, const std::string& file) {
  if (!json.is_object())
    fail("{}: the vocabulary is {}, expected an object of pieces and numbers", file, excerpt(json));
  Vocabulary vocabulary;
  vocabulary.reserve(json.size());
  for (const auto& [piece, id] : json.items())
    vocabulary.add(piece,
                   static_cast<int32_t>(integer_of(id, piece, file, 0, limits::kMaxTokenIds - 1)));
  return vocabulary;
}

void Vocabulary::add(std::string piece, int32_t id) {
  if (id < 0 || id >= limits::kMaxTokenIds)
    fail("piece {} has the id {}, expected 0 to {}", quoted(piece), id, limits::kMaxTokenIds - 1);
  if (2 * (entries_.size() + 1) > slots_.size()) reserve(2 * entries_.size() + 8);
  const uint32_t hash = hash_of(piece);
  Slot& slot = slots_[slot_of(piece, hash)];
  if (slot.entry < 0) {
    slot = {hash, count()};
    entries_.push_back({std::move(piece), id});
  }
  entries_[static_cast<size_t>(slot.entry)].id = id;
  if (id >= end()) by_id_.resize(static_cast<size_t>(id) + 1, -1);
  by_id_[static_cast<size_t>(id)] = slot.entry;
}

void Vocabulary::reserve(size_t pieces) {
  by_id_.reserve(pieces);
  entries_.reserve(pieces);
  if (2 * pieces <= slots_.size()) return;
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(std::bit_ceil(2 * pieces)));
  for (const Slot& slot : old)
    if (slot.entry >= 0)
      slots_[slot_of(entries_[static_cast<size_t>(slot.entry)].piece, slot.hash)] = slot;
}

size_t Vocabulary::slot_of(std::string_view piece, uint32_t hash) const {
  size_t place = hash & (slots_.size() - 1);
  for (; slots_[place].entry >= 0; place = (place + 1) & (slots_.size() - 1))
    if (slots_[place].hash == hash &&
        entries_[static_cast<size_t>(slots_[place].entry)].piece == piece)
      break;
  return place;
}

std::optional<int32_t> Vocabulary::find(std::string_view piece) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[slot_of(piece, hash_of(piece))];
  if (slot.entry < 0) return std::nullopt;
  return entries_[static_cast<size_t>(slot.entry)].id;
}

const std::string* Vocabulary::piece(int32_t id) const {
  if (id < 0 || id >= end()) return nullptr;
  const int32_t entry = by_id_[static_cast<size_t>(id)];
  return entry < 0 ? nullptr : &entries_[static_cast<size_t>(entry)].piece;
}

}  // namespace heed::text
