#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/parallel_text.h"

namespace heed::data {

/// Tells whether texts are those that they were: how many there are, and a hash of their bytes and
/// of their order. Not for texts that somebody wants to be mistaken for others.
struct Fingerprint {
  int64_t count = 0;
  uint64_t hash = 0;

  bool operator==(const Fingerprint&) const = default;
};

/// Of documents.
Fingerprint fingerprint_of(const std::vector<std::string>& texts);
/// Of pairs, each of which counts once.
Fingerprint fingerprint_of(const std::vector<SentencePair>& pairs);

}  // namespace heed::data
