#include "heed/tensor/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
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

constexpr size_t kClasses = 8 * 50;

/// So many classes, up to half as large again, may serve where the wanted one has no free block.
constexpr size_t kNearClasses = 5;

/// The number of a class among all.
size_t class_number(size_t size) {
  const auto width = static_cast<size_t>(std::bit_width(size));
  return 8 * width + (size >> (width - 4)) % 8;
}

/// Behind a block of less than a huge page lies what counts its owners, so that a tensor is one
/// block and nothing else.
constexpr size_t kOwnersBytes = kAlignment;

constexpr bool holds_owners(size_t size) { return size < kHugePage; }

/// A block and the number of its class, which may be larger than what was asked for.
struct Block {
  std::byte* memory;
  size_t number;
};

class Pool {
 public:
  Block take(size_t size) {
    const size_t wanted = class_number(size);
    {
      std::lock_guard lock(mutex_);
      count(size);
      // A batch that shrinks, as its texts end, asks for ever smaller blocks: it is given those it
      // gave back.
      const size_t end = holds_owners(size) ? class_number(kHugePage) : kClasses;
      for (size_t number = wanted; number < std::min(wanted + kNearClasses, end); ++number) {
        auto& blocks = free_[number];
        if (blocks.empty()) continue;
        std::byte* const block = blocks.back();
        blocks.pop_back();
        return {block, number};
      }
    }
    return {fresh(size), wanted};
  }

  /// `size` is what was asked for.
  void give_back(Block block, size_t size) {
    std::lock_guard lock(mutex_);
    in_use_ -= size;
    free_[block.number].push_back(block.memory);
  }

  void release() {
    std::lock_guard lock(mutex_);
    for (auto& blocks : free_) {
      for (std::byte* block : blocks) std::free(block);
      blocks.clear();
    }
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
    if (holds_owners(size)) return std::aligned_alloc(kAlignment, size + kOwnersBytes);
    void* block = std::aligned_alloc(kHugePage, (size + kHugePage - 1) / kHugePage * kHugePage);
    if (block) madvise(block, size, MADV_HUGEPAGE);
    return block;
  }

  std::mutex mutex_;
  std::array<std::vector<std::byte*>, kClasses> free_;  // by class_number
  size_t in_use_ = 0;
  size_t peak_ = 0;
};

/// Never destroyed: tensors with static lifetime may outlive any other static object.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

/// Lends a shared_ptr room behind the `size` bytes of its block, and gives the block back with it.
template <typename T>
struct OwnersRoom {
  using value_type = T;

  OwnersRoom(Block of, size_t bytes) : block(of), size(bytes) {}
  template <typename U>
  OwnersRoom(const OwnersRoom<U>& other) : block(other.block), size(other.size) {}

  T* allocate(size_t) {
    static_assert(sizeof(T) <= kOwnersBytes);
    return reinterpret_cast<T*>(block.memory + size);
  }
  void deallocate(T*, size_t) { pool().give_back(block, size); }

  template <typename U>
  bool operator==(const OwnersRoom<U>& other) const {
    return block.memory == other.block.memory;
  }

  Block block;
  size_t size;
};

}  // namespace

std::shared_ptr<std::byte> allocate(size_t bytes) {
  require(bytes <= kLargest, "out of memory: {} bytes could not be had", bytes);
  const size_t size = size_class(bytes);
  const Block block = pool().take(size);
  if (holds_owners(size))
    return {block.memory, [](std::byte*) {}, OwnersRoom<std::byte>(block, size)};
  return {block.memory, [block, size](std::byte*) { pool().give_back(block, size); }};
}

size_t allocated_bytes() { return pool().in_use(); }
size_t peak_allocated_bytes() { return pool().peak(); }
void reset_peak_allocated_bytes() { pool().reset_peak(); }
void release_free_memory() { pool().release(); }

}  // namespace heed
