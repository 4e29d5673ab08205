#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/hash.h"
#include "heed/data/parallel_text.h"

namespace heed::data {

/// Detects changed texts (or other parts): their number, and a hash of their bytes and order. Not
/// cryptographic.
struct Fingerprint {
  int64_t count = 0;
  uint64_t hash = 0;

  bool operator==(const Fingerprint&) const = default;
};

using heed::hash_after;

Fingerprint fingerprint_of(const std::vector<std::string>& texts);
/// Adds a pair, with its links, to the pairs of a fingerprint, whose number is `count`.
void add_pair(const SentencePair& pair, Fingerprint& fingerprint);

}  // namespace heed::data
