#pragma once

#include <cstddef>

#include "heed/base/error.h"
#include "heed/base/reader_limits.h"

namespace heed::text {

/// How many bytes a tokenizer may make of a text of `bytes` bytes. What a tokenizer.json describes
/// may otherwise make it grow without limit: thirty times "replace a by aa".
inline size_t max_text_size(size_t bytes) {
  return limits::kMaxTextGrowth * bytes + limits::kMaxTextGrowthBase;
}

/// Throws Error when the text has become longer than `max_size` bytes.
inline void check_text_size(size_t size, size_t max_size) {
  require(size <= max_size, "the tokenizer makes more than {} bytes of the text", max_size);
}

}  // namespace heed::text
