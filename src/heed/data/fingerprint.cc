#include "heed/data/fingerprint.h"

namespace heed::data {

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
