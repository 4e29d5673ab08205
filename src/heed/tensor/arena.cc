#include "heed/tensor/arena.h"

#include <algorithm>

#include "heed/base/sanitizer.h"

namespace heed {
std::byte* Arena::take(size_t size) {
  // Best fit, the lowest of equals.
  const auto best =
      std::min_element(free_.begin(), free_.end(), [&](const Extent& a, const Extent& b) {
        return (a.size >= size) != (b.size >= size) ? a.size >= size : a.size < b.size;
      });
  if (best == free_.end() || best->size < size) return nullptr;
  std::byte* const block = best->begin;
  best->begin += size;
  best->size -= size;
  if (best->size == 0) free_.erase(best);
  unpoison_memory(block, size);
  return block;
}

void Arena::give_back(std::byte* block, size_t size) {
  poison_memory(block, size);
  Extent extent{block, size};
  auto next = std::lower_bound(free_.begin(), free_.end(), block,
                               [](const Extent& a, std::byte* begin) { return a.begin < begin; });
  if (next != free_.end() && extent.end() == next->begin) {
    extent.size += next->size;
    next = free_.erase(next);
  }
  if (next != free_.begin() && std::prev(next)->end() == extent.begin)
    std::prev(next)->size += extent.size;
  else
    free_.insert(next, extent);
}

bool Arena::remove(std::byte* area, size_t size) {
  auto around =
      std::upper_bound(free_.begin(), free_.end(), area,
                       [](const std::byte* address, const Extent& a) { return address < a.begin; });
  if (around == free_.begin() || (--around)->end() < area + size) return false;
  const Extent before{around->begin, static_cast<size_t>(area - around->begin)};
  const Extent after{area + size, static_cast<size_t>(around->end() - (area + size))};
  around = free_.erase(around);
  if (after.size) around = free_.insert(around, after);
  if (before.size) free_.insert(around, before);
  unpoison_memory(area, size);
  return true;
}

}  // namespace heed
