#include "heed/tensor/mapped_areas.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "heed/base/rounding.h"
#include "heed/base/system.h"

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

bool MappedAreas::grow(Arena& arena, size_t size) {
  for (const size_t wanted : {std::max(size, kArea), size}) {
    const size_t bytes = round_up(wanted, kHugePage);
    std::byte* const area = map_aligned(lowest_ ? lowest_ - bytes : nullptr, bytes);
    if (!area) continue;
    advise_pages(area, bytes, PageAdvice::large_pages);
    lowest_ = area;
    arena.give_back(area, bytes);
    return true;
  }
  return false;
}

}  // namespace heed
