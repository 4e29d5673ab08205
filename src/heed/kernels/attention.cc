#include "heed/kernels/attention.h"

namespace heed::kernels {

AttentionMetadata AttentionMetadata::self(const std::vector<int32_t>& offsets) {
  return cross(offsets, offsets);
}

AttentionMetadata AttentionMetadata::cross(const std::vector<int32_t>& q_offsets,
                                           const std::vector<int32_t>& kv_offsets) {
  return {q_offsets,
          {kv_offsets.begin(), kv_offsets.end() - 1},
          {kv_offsets.begin() + 1, kv_offsets.end()},
          {}};
}

}  // namespace heed::kernels
