#include "heed/data/text_filter.h"

#include <algorithm>

#include "heed/base/hash.h"
#include "heed/data/mojibake.h"
#include "heed/language.h"

namespace heed::data {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr const char* kSpaces = " \t\r";
  const size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

/// Whether the hash was not in the table, to which it is added.
bool insert(std::vector<uint64_t>& table, uint64_t hash) {
  hash = std::max<uint64_t>(hash, 1);
  const size_t mask = table.size() - 1;
  for (size_t place = hash & mask;; place = (place + 1) & mask) {
    if (table[place] == hash) return false;
    if (table[place] != 0) continue;
    table[place] = hash;
    return true;
  }
}

}  // namespace

std::optional<Drop> TextFilter::problem(const SentencePair& pair, const std::string& source,
                                        const std::string& target) const {
  if (limits_.drop_copied && trimmed(pair.source) == trimmed(pair.target)) return Drop::copied;
  if (limits_.drop_mojibake && (has_mojibake(pair.source) || has_mojibake(pair.target)))
    return Drop::mojibake;
  if (limits_.min_language_probability > 0 &&
      !(in_language(pair.source, source) && in_language(pair.target, target)))
    return Drop::language;
  return std::nullopt;
}

bool TextFilter::in_language(std::string_view text, const std::string& language) const {
  const std::vector<DetectedLanguage> detected = detect_language(text);
  if (detected.empty()) return true;
  const auto found = std::ranges::find(detected, language, &DetectedLanguage::code);
  return found != detected.end() && found->probability >= limits_.min_language_probability;
}

bool TextFilter::repeats(const SentencePair& pair, uint64_t direction) {
  if (!limits_.drop_duplicates) return false;
  if (2 * ++count_ > seen_.size()) {
    std::vector<uint64_t> larger(2 * seen_.size());
    for (const uint64_t hash : seen_)
      if (hash != 0) insert(larger, hash);
    seen_ = std::move(larger);
  }
  return !insert(seen_, hash_after(hash_after(direction, pair.source), pair.target));
}

}  // namespace heed::data
