#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "heed/base/random.h"
#include "heed/tensor/allocator.h"
#include "heed/text/models/tokenizer_model.h"

namespace heed::text {

/// Maps pairs of pieces to their merges: a hash table without pointers, in the pool's memory, which
/// has large pages.
class MergeTable {
 public:
  explicit MergeTable(const std::vector<BpeMerge>& merges) {
    size_t size = 16;
    while (size < 2 * merges.size()) size *= 2;
    slots_.resize(size, BpeMerge{-1, -1, 0, 0});
    // When a pair occurs twice, the last merge counts.
    for (const BpeMerge& merge : merges) slots_[slot_of(merge.left, merge.right)] = merge;
  }

  /// nullptr when the two do not merge.
  const BpeMerge* find(int32_t left, int32_t right) const {
    const BpeMerge& slot = slots_[slot_of(left, right)];
    return slot.left < 0 ? nullptr : &slot;
  }

 private:
  /// The slot of the pair, or the free slot where it would go.
  size_t slot_of(int32_t left, int32_t right) const {
    const auto key =
        (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right);
    size_t slot = mix64(key) & (slots_.size() - 1);
    while (slots_[slot].left >= 0 && (slots_[slot].left != left || slots_[slot].right != right))
      slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  std::pmr::vector<BpeMerge> slots_{&pool_resource()};
};

}  // namespace heed::text
