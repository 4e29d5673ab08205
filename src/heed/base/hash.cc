#include "heed/base/hash.h"

#include <cstring>

#include "heed/base/random.h"

namespace heed {

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

}  // namespace heed
