#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "heed/base/random.h"
#include "heed/tensor/allocator.h"
#include "heed/text/models/tokenizer_model.h"

namespace heed::text {

/// What two pieces become, found by both: a hash table without pointers, in the pool's memory,
/// which has large pages.
class MergeTable {
 public:
  explicit MergeTable(const std::vector<BpeMerge>& merges) {
    size_t size = 16;
    while (size < 2 * merges.size()) size *= 2;
    slots_.resize(size, BpeMerge{-1, -1, 0, 0});
    // Of one pair twice, the last counts.
    for (const BpeMerge& merge : merges) slots_[slot_of(merge.left, merge.right)] = merge;
  }

  /// nullptr when the two stay apart.
  const BpeMerge* find(int32_t left, int32_t right) const {
    const BpeMerge& slot = slots_[slot_of(left, right)];
    return slot.left < 0 ? nullptr : &slot;
  }

 private:
  /// Where the pair is, or the free place where it would be.
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
