#pragma once

#include <cstddef>

#include "heed/base/error.h"
#include "heed/base/reader_limits.h"

namespace heed::text {

/// The size to which a tokenizer may expand a text of `bytes` bytes. Without a limit, a
/// tokenizer.json could exhaust memory: thirty replacements of "a" by "aa" multiply the size by
/// 2^30.
inline size_t max_text_size(size_t bytes) {
  return limits::kMaxTextGrowth * bytes + limits::kMaxTextGrowthBase;
}

/// Throws Error when the text has become longer than `max_size` bytes.
inline void check_text_size(size_t size, size_t max_size) {
  require_input(size <= max_size, "the tokenizer makes more than {} bytes of the text", max_size);
}

}  // namespace heed::text
