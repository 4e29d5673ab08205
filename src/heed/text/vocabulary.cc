#include "heed/text/vocabulary.h"

#include "heed/base/json.h"

namespace heed::text {

Vocabulary Vocabulary::read(const nlohmann::json& json, const std::string& file) {
  if (!json.is_object())
    fail("{}: the vocabulary is {}, expected an object of pieces and numbers", file, excerpt(json));
  Vocabulary vocabulary;
  vocabulary.reserve(json.size());
  for (const auto& [piece, id] : json.items())
    vocabulary.add(piece, static_cast<int32_t>(integer_of(id, piece, file, 0, kMostIds - 1)));
  return vocabulary;
}

void Vocabulary::add(std::string piece, int32_t id) {
  if (id < 0 || id >= kMostIds)
    fail("piece {} has the number {}, expected 0 to {}", one_line(piece), id, kMostIds - 1);
  const std::string& kept = pieces_.emplace_back(std::move(piece));
  ids_[kept] = id;
  if (id >= end()) by_id_.resize(static_cast<size_t>(id) + 1, nullptr);
  by_id_[static_cast<size_t>(id)] = &kept;
}

void Vocabulary::reserve(size_t pieces) {
  ids_.reserve(pieces);
  by_id_.reserve(pieces);
}

std::optional<int32_t> Vocabulary::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string* Vocabulary::piece(int32_t id) const {
  return id >= 0 && id < end() ? by_id_[static_cast<size_t>(id)] : nullptr;
}

}  // namespace heed::text
