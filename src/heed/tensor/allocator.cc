#include "heed/tensor/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;

constexpr size_t kLargest = size_t{1} << 48;  // no machine has more
constexpr size_t kSmallest = 8 * kAlignment;

/// Rounds up to one of eight classes per power of two: at most 1/8 is wasted, and batches of nearly
/// the same number of tokens share their blocks. Every class is a multiple of the alignment.
size_t size_class(size_t bytes) {
  bytes = std::max(bytes, kSmallest);
  const auto step_bits = static_cast<int>(std::bit_width(bytes)) - 4;
  return (((bytes - 1) >> step_bits) + 1) << step_bits;
}

class Pool {
 public:
  std::byte* take(size_t size) {
    {
      std::lock_guard lock(mutex_);
      count(size);
      auto& blocks = free_[size];
      if (!blocks.empty()) {
        std::byte* block = blocks.back();
        blocks.pop_back();
        return block;
      }
    }
    return fresh(size);
  }

  void give_back(std::byte* block, size_t size) {
    std::lock_guard lock(mutex_);
    in_use_ -= size;
    free_[size].push_back(block);
  }

  void release() {
    std::lock_guard lock(mutex_);
    for (auto& [size, blocks] : free_)
      for (std::byte* block : blocks) std::free(block);
    free_.clear();
  }

  size_t in_use() {
    std::lock_guard lock(mutex_);
    return in_use_;
  }
  size_t peak() {
    std::lock_guard lock(mutex_);
    return peak_;
  }
  void reset_peak() {
    std::lock_guard lock(mutex_);
    peak_ = in_use_;
  }

 private:
  void count(size_t size) {
    in_use_ += size;
    peak_ = std::max(peak_, in_use_);
  }

  std::byte* fresh(size_t size) {
    void* block = from_system(size);
    if (!block) {
      release();
      block = from_system(size);
    }
    if (block) return static_cast<std::byte*>(block);
    std::lock_guard lock(mutex_);
    in_use_ -= size;
    fail("out of memory: {} bytes more than the {} in use could not be had", size, in_use_);
  }

  static void* from_system(size_t size) {
    if (size < kHugePage) return std::aligned_alloc(kAlignment, size);
    void* block = std::aligned_alloc(kHugePage, (size + kHugePage - 1) / kHugePage * kHugePage);
    if (block) madvise(block, size, MADV_HUGEPAGE);
    return block;
  }

  std::mutex mutex_;
  std::map<size_t, std::vector<std::byte*>> free_;
  size_t in_use_ = 0;
  size_t peak_ = 0;
};

/// Never destroyed: tensors with static lifetime may outlive any other static object.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

}  // namespace

std::shared_ptr<std::byte> allocate(size_t bytes) {
  require(bytes <= kLargest, "out of memory: {} bytes could not be had", bytes);
  const size_t size = size_class(bytes);
  return {pool().take(size), [size](std::byte* block) { pool().give_back(block, size); }};
}

size_t allocated_bytes() { return pool().in_use(); }
size_t peak_allocated_bytes() { return pool().peak(); }
void reset_peak_allocated_bytes() { pool().reset_peak(); }
void release_free_memory() { pool().release(); }

}  // namespace heed
