#pragma once

#include <cstdint>
#include <vector>

namespace heed::data {

/// A sentence pair as tokens. Both sides end with end of sequence; the start token that the decoder
/// reads first is added by make_batch().
struct Example {
  std::vector<int32_t> source, target;
};

}  // namespace heed::data
