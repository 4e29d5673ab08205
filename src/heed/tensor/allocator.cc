#include "heed/tensor/allocator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/mutex.h"
#include "heed/base/rounding.h"
#include "heed/base/sanitizer.h"
#include "heed/base/system.h"
#include "heed/tensor/arena.h"
#include "heed/tensor/mapped_areas.h"

namespace heed {
namespace {

constexpr size_t kAlignment = 64;

constexpr size_t kMaxBytes = size_t{1} << 48;  // no machine has more
constexpr size_t kMinBytes = 8 * kAlignment;
/// Blocks up to this size are pooled by size class, larger ones come from the arena.
constexpr size_t kMaxSmall = size_t{64} << 10;

/// Rounds up to one of eight size classes per power of two: at most 1/8 is wasted, and batches of
/// nearly the same number of tokens reuse each other's blocks. Every class is a multiple of the
/// alignment.
size_t size_class(size_t bytes) {
  bytes = std::max(bytes, kMinBytes);
  const auto step_bits = static_cast<int>(std::bit_width(bytes)) - 4;
  return (((bytes - 1) >> step_bits) + 1) << step_bits;
}

/// The index of a size class.
constexpr size_t class_index(size_t size) {
  const auto width = static_cast<size_t>(std::bit_width(size));
  return 8 * width + (size >> (width - 4)) % 8;
}

constexpr size_t kClasses = class_index(kMaxSmall) + 1;

/// If a class has no free block, blocks of the next classes are used, up to 1.5 times as large.
constexpr size_t kNearClasses = 5;

/// The reference count of a small block follows it. That of a large block is elsewhere, so that the
/// first to touch the block's pages, which then clears them, is the thread that writes the data.
/// Libraries other than libstdc++ need more for it.
#if defined(__GLIBCXX__)
constexpr size_t kCountBytes = kAlignment;
#else
constexpr size_t kCountBytes = 2 * kAlignment;
#endif

/// A block, the memory of its reference count, and how it is returned: the index of its size class,
/// which may be larger than requested, or the bytes taken from the arena (0: none).
struct Block {
  std::byte *memory, *count;
  size_t class_index, arena_bytes;
};

class Pool {
 public:
  Block take(size_t size) {
    const MutexLock lock(mutex_);
    Block block = take_free(size);
    if (!block.memory) {
      release_all();
      block = take_free(size);
    }
    if (!block.memory)
      fail("out of memory: {} bytes could not be allocated, {} are in use", size, in_use_);
    count(size);
    return block;
  }

  /// `size` is the requested size.
  void give_back(Block block, size_t size) {
    const MutexLock lock(mutex_);
    in_use_ -= size;
    if (block.arena_bytes) {
      arena_.give_back(block.memory, block.arena_bytes);
      counts_.push_back(block.count);
    } else {
      small_[block.class_index].push_back(block.memory);
    }
  }

  void release() {
    const MutexLock lock(mutex_);
    release_all();
  }

  void reserve(size_t size) {
    const MutexLock lock(mutex_);
    count(size);
  }
  void end_reservation(size_t size) {
    const MutexLock lock(mutex_);
    in_use_ -= size;
  }

  size_t in_use() {
    const MutexLock lock(mutex_);
    return in_use_;
  }
  size_t peak() {
    const MutexLock lock(mutex_);
    return peak_;
  }
  void reset_peak() {
    const MutexLock lock(mutex_);
    peak_ = in_use_;
  }

 private:
  void count(size_t size) HEED_REQUIRES(mutex_) {
    in_use_ += size;
    peak_ = std::max(peak_, in_use_);
  }

  /// A free block of at least `size` bytes; a block without memory if there is no memory left.
  Block take_free(size_t size) HEED_REQUIRES(mutex_) {
    if (size > kMaxSmall) return take_large(size);
    // As sequences of a batch finish, requests shrink; they reuse the larger blocks that were freed
    // before.
    const size_t wanted = class_index(size);
    for (size_t index = wanted; index < std::min(wanted + kNearClasses, kClasses); ++index)
      if (std::byte* const block = last_of(small_[index])) return {block, block + size, index, 0};
    std::byte* const fresh = from_heap(size + kCountBytes);
    return {fresh, fresh + size, wanted, 0};
  }

  Block take_large(size_t size) HEED_REQUIRES(mutex_) {
    std::byte* count_memory = last_of(counts_);
    if (!count_memory) count_memory = from_heap(kCountBytes);
    if (!count_memory) return {};
    const size_t bytes = round_up(size, Arena::kGranule);
    std::byte* memory = arena_.take(bytes);
    if (!memory && areas_.grow(arena_, bytes)) memory = arena_.take(bytes);
    if (memory)
      poison_memory(memory + size, bytes - size);
    else
      counts_.push_back(count_memory);
    return {memory, count_memory, 0, bytes};
  }

  /// Removes the last block of a list; null if there is none.
  static std::byte* last_of(std::vector<std::byte*>& blocks) {
    if (blocks.empty()) return nullptr;
    std::byte* const last = blocks.back();
    blocks.pop_back();
    return last;
  }

  static std::byte* from_heap(size_t size) {
    return static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
  }

  static void free_all(std::vector<std::byte*>& blocks) {
    for (std::byte* block : blocks) std::free(block);
    blocks.clear();
  }

  void release_all() HEED_REQUIRES(mutex_) {
    for (auto& blocks : small_) free_all(blocks);
    free_all(counts_);
    for (const Arena::Extent& extent : arena_.free_extents())
      advise_pages(extent.begin, extent.size, PageAdvice::release);
  }

  Mutex mutex_;
  /// Free, by class_index.
  std::array<std::vector<std::byte*>, kClasses> small_ HEED_GUARDED_BY(mutex_);
  Arena arena_ HEED_GUARDED_BY(mutex_);
  MappedAreas areas_ HEED_GUARDED_BY(mutex_);
  std::vector<std::byte*> counts_ HEED_GUARDED_BY(mutex_);  // free reference counts of large blocks
  size_t in_use_ HEED_GUARDED_BY(mutex_) = 0;
  size_t peak_ HEED_GUARDED_BY(mutex_) = 0;
};

/// Never destroyed, since tensors of static lifetime may outlive any other static object.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

/// Places the reference count of a shared_ptr in `block.count`. When the count is freed, the block
/// returns to the pool. `size` is the requested size.
template <typename T>
struct CountAllocator {
  using value_type = T;

  CountAllocator(Block of, size_t bytes) : block(of), size(bytes) {}
  template <typename U>
  CountAllocator(const CountAllocator<U>& other) : block(other.block), size(other.size) {}

  T* allocate(size_t) {
    static_assert(sizeof(T) <= kCountBytes);
    return reinterpret_cast<T*>(block.count);
  }
  void deallocate(T*, size_t) { pool().give_back(block, size); }

  template <typename U>
  bool operator==(const CountAllocator<U>& other) const {
    return block.memory == other.block.memory;
  }

  Block block;
  size_t size;
};

/// The owner of a block of the pool is stored in front of the memory that is handed out.
class PoolResource : public std::pmr::memory_resource {
  using Owner = std::shared_ptr<std::byte>;

  void* do_allocate(size_t bytes, size_t alignment) override {
    require(alignment <= kAlignment,
            "memory aligned to {} bytes was requested, at most {} is possible", alignment,
            kAlignment);
    require(bytes <= kMaxBytes, "out of memory: {} bytes could not be allocated", bytes);
    Owner block = heed::allocate(bytes + kAlignment);
    std::byte* const memory = block.get();
    new (memory) Owner(std::move(block));
    return memory + kAlignment;
  }
  void do_deallocate(void* memory, size_t, size_t) override {
    auto* const owner = reinterpret_cast<Owner*>(static_cast<std::byte*>(memory) - kAlignment);
    const Owner last = std::move(*owner);
    owner->~Owner();
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

}  // namespace

std::shared_ptr<std::byte> allocate(size_t bytes) {
  require(bytes <= kMaxBytes, "out of memory: {} bytes could not be allocated", bytes);
  const size_t size = bytes > kMaxSmall ? round_up(bytes, kAlignment) : size_class(bytes);
  const Block block = pool().take(size);
  return {block.memory, [](std::byte*) {}, CountAllocator<std::byte>(block, size)};
}

std::pmr::memory_resource& pool_resource() {
  static auto* const instance = new PoolResource;
  return *instance;
}

Reservation::Reservation(size_t bytes) : bytes_(bytes) { pool().reserve(bytes); }
Reservation::~Reservation() {
  if (bytes_) pool().end_reservation(bytes_);
}

size_t allocated_bytes() { return pool().in_use(); }
size_t peak_allocated_bytes() { return pool().peak(); }
void reset_peak_allocated_bytes() { pool().reset_peak(); }
void release_free_memory() { pool().release(); }

}  // namespace heed
