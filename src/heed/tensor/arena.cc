#include "heed/tensor/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "heed/base/rounding.h"
#include "heed/base/sanitizer.h"

namespace heed {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
/// Bytes of address space that are reserved at a time; pages are allocated when written to.
constexpr size_t kArea = size_t{64} << 20;

std::byte* map(std::byte* wanted, size_t size) {
  void* area = mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return area == MAP_FAILED ? nullptr : static_cast<std::byte*>(area);
}

/// `size` bytes aligned to a huge page, at `wanted` if that is free; or null.
std::byte* map_aligned(std::byte* wanted, size_t size) {
  std::byte* area = map(wanted, size);
  if (!area || reinterpret_cast<uintptr_t>(area) % kHugePage == 0) return area;
  munmap(area, size);
  area = map(nullptr, size + kHugePage);
  if (!area) return nullptr;
  const size_t before = kHugePage - reinterpret_cast<uintptr_t>(area) % kHugePage;
  munmap(area, before);
  if (before < kHugePage) munmap(area + before + size, kHugePage - before);
  return area + before;
}

}  // namespace

std::byte* Arena::take(size_t size) {
  const auto better = [&](const Extent& a, const Extent& b) {
    return (a.size >= size) != (b.size >= size) ? a.size >= size : a.size < b.size;
  };
  // Best fit, the lowest of equals.
  auto best = std::min_element(free_.begin(), free_.end(), better);
  if (best == free_.end() || best->size < size) {
    if (!grow(size)) return nullptr;
    best = std::min_element(free_.begin(), free_.end(), better);
  }
  std::byte* const block = best->begin;
  best->begin += size;
  best->size -= size;
  if (best->size == 0) free_.erase(best);
  unpoison_memory(block, size);
  return block;
}

void Arena::give_back(std::byte* block, size_t size) {
  poison_memory(block, size);
  add({block, size});
}

void Arena::release() {
  for (const Extent& extent : free_) madvise(extent.begin, extent.size, MADV_DONTNEED);
}

/// Adds an area, if possible right below the last one, with which it merges.
bool Arena::grow(size_t size) {
  for (const size_t wanted : {std::max(size, kArea), size}) {
    const size_t bytes = round_up(wanted, kHugePage);
    std::byte* const area = map_aligned(lowest_ ? lowest_ - bytes : nullptr, bytes);
    if (!area) continue;
    madvise(area, bytes, MADV_HUGEPAGE);
    lowest_ = area;
    give_back(area, bytes);
    return true;
  }
  return false;
}

void Arena::add(Extent extent) {
  auto next = std::lower_bound(free_.begin(), free_.end(), extent.begin,
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

}  // namespace heed
