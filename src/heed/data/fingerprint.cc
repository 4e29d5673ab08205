#include "heed/data/fingerprint.h"

#include <cstring>

#include "heed/base/random.h"

namespace heed::data {

uint64_t hash_after(uint64_t hash, std::string_view bytes) {
  hash = mix64(hash ^ bytes.size());  // distinguishes {"ab", "c"} from {"a", "bc"}
  uint64_t word = 0;
  for (; bytes.size() >= sizeof(word); bytes.remove_prefix(sizeof(word))) {
    std::memcpy(&word, bytes.data(), sizeof(word));
    hash = mix64(hash ^ word);
  }
  if (bytes.empty()) return hash;
  word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  return mix64(hash ^ word);
}

Fingerprint fingerprint_of(const std::vector<std::string>& texts) {
  Fingerprint result{.count = static_cast<int64_t>(texts.size())};
  for (const std::string& text : texts) result.hash = hash_after(result.hash, text);
  return result;
}

Fingerprint fingerprint_of(const std::vector<SentencePair>& pairs) {
  Fingerprint result{.count = static_cast<int64_t>(pairs.size())};
  for (const auto& [source, target] : pairs)
    result.hash = hash_after(hash_after(result.hash, source), target);
  return result;
}

}  // namespace heed::data
