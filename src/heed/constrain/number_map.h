#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed::constrain {

/// A hash table from numbers below 2^64 - 1 to numbers, in one array: a look-up costs less than in
/// std::unordered_map, and a copy little.
class NumberMap {
 public:
  /// The value of a key; nullptr if it has none. Valid until the next insert().
  const uint32_t* find(uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[slot_of(key)];
    return slot.key == 0 ? nullptr : &slot.value;
  }
  void insert(uint64_t key, uint32_t value) {
    if (size_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[slot_of(key)];
    size_ += slot.key == 0 ? 1 : 0;
    slot = {key + 1, value};
  }
  size_t size() const { return size_; }
  /// Bytes of memory.
  size_t memory() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    uint64_t key = 0;  // plus 1; 0: the slot is free
    uint32_t value = 0;
  };

  // Where a key is, or may be put.
  size_t slot_of(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    uint64_t hash = key * 0x9E3779B97F4A7C15;
    size_t slot = (hash ^ (hash >> 32)) & mask;
    while (slots_[slot].key != 0 && slots_[slot].key != key + 1) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != 0) slots_[slot_of(slot.key - 1)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, or none
  size_t size_ = 0;
};

}  // namespace heed::constrain
