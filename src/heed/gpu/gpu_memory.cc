// A GPU's memory: arenas of areas that the driver gives.
#include <algorithm>

#include "heed/base/rounding.h"
#include "heed/base/sanitizer.h"
#include "heed/gpu/gpu.h"
#include "heed/gpu/graph.h"
#include "heed/tensor/allocator.h"

namespace heed::gpu {
namespace {

/// Memory is asked of the driver in areas of this size, or of a 32nd of a small GPU.
constexpr size_t kArea = size_t{256} << 20;
/// Areas of pinned memory, which takes long to allocate.
constexpr size_t kHostArea = size_t{16} << 20;

}  // namespace

size_t Gpu::driver_free_bytes() const {
  make_current();
  size_t free = 0, total = 0;
  check(driver_.cuMemGetInfo(&free, &total), "asking for its free memory");
  return free;
}

size_t Gpu::allocated_bytes() const {
  const MutexLock lock(memory_mutex_);
  return allocated_;
}

size_t Gpu::peak_allocated_bytes() const {
  const MutexLock lock(memory_mutex_);
  return peak_;
}

void Gpu::reset_peak_allocated_bytes() {
  const MutexLock lock(memory_mutex_);
  peak_ = allocated_;
}

size_t Gpu::free_bytes() const {
  size_t bytes = driver_free_bytes();
  const MutexLock lock(memory_mutex_);
  for (const Arena::Extent& extent : arena_.free_extents()) bytes += extent.size;
  return bytes;
}

void Gpu::release_free_memory() {
  synchronize();
  const MutexLock lock(memory_mutex_);
  std::erase_if(areas_, [&](const Arena::Extent& area) HEED_REQUIRES(memory_mutex_) {
    if (!arena_.remove(area.begin, area.size)) return false;
    driver_.cuMemFree(reinterpret_cast<uintptr_t>(area.begin));
    return true;
  });
}

std::shared_ptr<std::byte> Gpu::allocate(size_t bytes) {
  GraphRunner* const graphs = GraphRunner::recording_on(*this);
  return graphs ? graphs->allocate(bytes) : allocate_from_arena(bytes);
}

std::shared_ptr<std::byte> Gpu::allocate_from_arena(size_t bytes) {
  const size_t size = round_up(std::max<size_t>(bytes, 1), Arena::kGranule);
  std::byte* const block = take(size);
  poison_memory(block + bytes, size - bytes);
  return {block, [this, size](std::byte* memory) { give_back(memory, size); }};
}

std::byte* Gpu::take(size_t size) {
  const MutexLock lock(memory_mutex_);
  std::byte* block = arena_.take(size);
  if (!block && grow(size)) block = arena_.take(size);
  if (!block)
    throw DeviceMemoryError(fmt::format(
        "out of memory on {}: {} bytes could not be allocated, {} are in use and {} free: fewer "
        "tokens at a time or quantised weights (q8_0) need less",
        name_, grouped(static_cast<int64_t>(size)), grouped(static_cast<int64_t>(allocated_)),
        grouped(static_cast<int64_t>(driver_free_bytes()))));
  allocated_ += size;
  peak_ = std::max(peak_, allocated_);
  return block;
}

bool Gpu::grow(size_t size) {
  make_current();
  const size_t usual = std::min(kArea, round_up(properties_.memory_bytes / 32, Arena::kGranule));
  for (const size_t wanted : {std::max(size, usual), size}) {
    const size_t bytes = wanted + Arena::kGranule;
    Driver::Pointer pointer = 0;
    const Driver::Result result = driver_.cuMemAlloc(&pointer, bytes);
    if (result == Driver::kOutOfMemory) continue;
    check(result, fmt::format("allocating {} bytes", bytes));
    // The last granule stays unused: a block must not lie in two areas, which the driver's copies
    // refuse.
    areas_.push_back({reinterpret_cast<std::byte*>(pointer), bytes - Arena::kGranule});
    arena_.give_back(areas_.back().begin, areas_.back().size);
    return true;
  }
  return false;
}

void Gpu::give_back(std::byte* block, size_t size) noexcept {
  const MutexLock lock(memory_mutex_);
  allocated_ -= size;
  arena_.give_back(block, size);
}

std::shared_ptr<std::byte> Gpu::allocate_on_host(size_t bytes) {
  const size_t size = round_up(std::max<size_t>(bytes, 1), Arena::kGranule);
  const MutexLock lock(memory_mutex_);
  std::byte* block = host_arena_.take(size);
  if (!block && grow_on_host(size)) block = host_arena_.take(size);
  if (!block) return heed::allocate(bytes);
  return {block, [this, size](std::byte* memory) {
            const MutexLock own(memory_mutex_);
            host_arena_.give_back(memory, size);
          }};
}

bool Gpu::grow_on_host(size_t size) {
  make_current();
  const size_t wanted = std::max(size, kHostArea);
  void* area = nullptr;
  if (driver_.cuMemHostAlloc(&area, wanted, 0) != 0) return false;
  host_areas_.push_back({static_cast<std::byte*>(area), wanted});
  host_arena_.give_back(host_areas_.back().begin, wanted);
  return true;
}

bool Gpu::is_on_host_area(const std::byte* memory) const {
  const MutexLock lock(memory_mutex_);
  return std::ranges::any_of(host_areas_, [&](const Arena::Extent& area) {
    return area.begin <= memory && memory < area.end();
  });
}

std::shared_ptr<std::byte> Gpu::allocate_pinned(size_t bytes) {
  std::shared_ptr<std::byte> block = allocate_on_host(bytes);
  require(is_on_host_area(block.get()), "{}: {} bytes of pinned memory could not be allocated",
          name_, bytes);
  return block;
}

}  // namespace heed::gpu
