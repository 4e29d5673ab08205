#pragma once

#include <cstdint>
#include <vector>

namespace heed::data {

/// A tokenised sentence pair. Both sides end with the end-of-sequence token; make_batch() adds the
/// decoder's start token.
struct Example {
  std::vector<int32_t> source, target;
};

}  // namespace heed::data
