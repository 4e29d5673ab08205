#include "heed/data/fingerprint.h"

namespace heed::data {

Fingerprint fingerprint_of(const std::vector<std::string>& texts) {
  Fingerprint result{.count = static_cast<int64_t>(texts.size())};
  for (const std::string& text : texts) result.hash = hash_after(result.hash, text);
  return result;
}

void add_pair(const SentencePair& pair, Fingerprint& fingerprint) {
  ++fingerprint.count;
  fingerprint.hash = hash_after(hash_after(fingerprint.hash, pair.source), pair.target);
  if (!pair.links.empty())
    fingerprint.hash = hash_after(
        fingerprint.hash,
        {reinterpret_cast<const char*>(pair.links.data()), pair.links.size() * sizeof(Link)});
}

}  // namespace heed::data
