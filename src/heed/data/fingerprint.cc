#include "heed/data/fingerprint.h"

#include <algorithm>
#include <cstring>

#include "heed/base/random.h"

namespace heed::data {
namespace {

uint64_t mixed(uint64_t hash, std::string_view text) {
  hash = mix64(hash ^ text.size());  // distinguishes {"ab", "c"} from {"a", "bc"}
  while (!text.empty()) {
    uint64_t word = 0;
    const size_t size = std::min(text.size(), sizeof(word));
    std::memcpy(&word, text.data(), size);
    hash = mix64(hash ^ word);
    text.remove_prefix(size);
  }
  return hash;
}

}  // namespace

Fingerprint fingerprint_of(const std::vector<std::string>& texts) {
  Fingerprint result{.count = static_cast<int64_t>(texts.size())};
  for (const std::string& text : texts) result.hash = mixed(result.hash, text);
  return result;
}

Fingerprint fingerprint_of(const std::vector<SentencePair>& pairs) {
  Fingerprint result{.count = static_cast<int64_t>(pairs.size())};
  for (const auto& [source, target] : pairs)
    result.hash = mixed(mixed(result.hash, source), target);
  return result;
}

}  // namespace heed::data
