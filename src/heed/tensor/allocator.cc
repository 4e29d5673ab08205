#include "heed/tensor/allocator.h"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/rounding.h"
#include "heed/tensor/arena.h"

namespace heed {
namespace {

constexpr size_t kAlignment = 64;

constexpr size_t kLargest = size_t{1} << 48;  // no machine has more
constexpr size_t kSmallest = 8 * kAlignment;
/// Blocks up to this size are kept apart by size, larger ones are cut from the arena.
constexpr size_t kLargestSmall = size_t{64} << 10;

/// Rounds up to one of eight classes per power of two: at most 1/8 is wasted, and batches of nearly
/// the same number of tokens share their blocks. Every class is a multiple of the alignment.
size_t size_class(size_t bytes) {
  bytes = std::max(bytes, kSmallest);
  const auto step_bits = static_cast<int>(std::bit_width(bytes)) - 4;
  return (((bytes - 1) >> step_bits) + 1) << step_bits;
}

/// The number of a class among all.
constexpr size_t class_number(size_t size) {
  const auto width = static_cast<size_t>(std::bit_width(size));
  return 8 * width + (size >> (width - 4)) % 8;
}

constexpr size_t kClasses = class_number(kLargestSmall) + 1;

/// So many classes, up to half as large again, may serve where the wanted one has no free block.
constexpr size_t kNearClasses = 5;

/// Behind a small block lies what counts its owners. That of a large one lies elsewhere: the first
/// to touch a block's pages, who has them cleared, is then the thread that writes there.
constexpr size_t kOwnersBytes = kAlignment;

/// A block, room for what counts its owners, and how both are given back: by the number of their
/// class, which may be larger than what was asked for, or the bytes that were cut from the arena.
struct Block {
  std::byte *memory, *owners;
  size_t number, cut;
};

class Pool {
 public:
  Block take(size_t size) {
    std::lock_guard lock(mutex_);
    Block block = take_free(size);
    if (!block.memory) {
      release_all();
      block = take_free(size);
    }
    if (!block.memory)
      fail("out of memory: {} bytes more than the {} in use could not be had", size, in_use_);
    count(size);
    return block;
  }

  /// `size` is what was asked for.
  void give_back(Block block, size_t size) {
    std::lock_guard lock(mutex_);
    in_use_ -= size;
    if (block.cut) {
      arena_.give_back(block.memory, block.cut);
      owners_.push_back(block.owners);
    } else {
      small_[block.number].push_back(block.memory);
    }
  }

  void release() {
    std::lock_guard lock(mutex_);
    release_all();
  }

  void reserve(size_t size) {
    std::lock_guard lock(mutex_);
    count(size);
  }
  void end_reservation(size_t size) {
    std::lock_guard lock(mutex_);
    in_use_ -= size;
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

  /// Without memory when there is none.
  Block take_free(size_t size) {
    if (size > kLargestSmall) return take_large(size);
    // A batch that shrinks, as its texts end, asks for ever smaller blocks: it is given those it
    // gave back.
    const size_t wanted = class_number(size);
    for (size_t number = wanted; number < std::min(wanted + kNearClasses, kClasses); ++number)
      if (std::byte* const block = last_of(small_[number])) return {block, block + size, number, 0};
    std::byte* const fresh = from_heap(size + kOwnersBytes);
    return {fresh, fresh + size, wanted, 0};
  }

  Block take_large(size_t size) {
    std::byte* owners = last_of(owners_);
    if (!owners) owners = from_heap(kOwnersBytes);
    if (!owners) return {};
    const size_t cut = round_up(size, Arena::kGranule);
    std::byte* const memory = arena_.take(cut);
    if (memory)
      ASAN_POISON_MEMORY_REGION(memory + size, cut - size);
    else
      owners_.push_back(owners);
    return {memory, owners, 0, cut};
  }

  /// Takes it off the list; null: there is none.
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

  void release_all() {
    for (auto& blocks : small_) free_all(blocks);
    free_all(owners_);
    arena_.release();
  }

  std::mutex mutex_;
  std::array<std::vector<std::byte*>, kClasses> small_;  // free, by class_number
  Arena arena_;
  std::vector<std::byte*> owners_;  // free rooms of large blocks
  size_t in_use_ = 0;
  size_t peak_ = 0;
};

/// Never destroyed: tensors with static lifetime may outlive any other static object.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

/// Lends a shared_ptr room for its count of owners, and gives the block back with it. `size` is
/// what was asked for.
template <typename T>
struct OwnersRoom {
  using value_type = T;

  OwnersRoom(Block of, size_t bytes) : block(of), size(bytes) {}
  template <typename U>
  OwnersRoom(const OwnersRoom<U>& other) : block(other.block), size(other.size) {}

  T* allocate(size_t) {
    static_assert(sizeof(T) <= kOwnersBytes);
    return reinterpret_cast<T*>(block.owners);
  }
  void deallocate(T*, size_t) { pool().give_back(block, size); }

  template <typename U>
  bool operator==(const OwnersRoom<U>& other) const {
    return block.memory == other.block.memory;
  }

  Block block;
  size_t size;
};

/// What owns a block of the pool lies in front of what others use of it.
class PoolResource : public std::pmr::memory_resource {
  using Owner = std::shared_ptr<std::byte>;

  void* do_allocate(size_t bytes, size_t alignment) override {
    require(alignment <= kAlignment, "memory aligned to {} bytes, at most {} are possible",
            alignment, kAlignment);
    require(bytes <= kLargest, "out of memory: {} bytes could not be had", bytes);
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
  require(bytes <= kLargest, "out of memory: {} bytes could not be had", bytes);
  const size_t size = bytes > kLargestSmall ? round_up(bytes, kAlignment) : size_class(bytes);
  const Block block = pool().take(size);
  return {block.memory, [](std::byte*) {}, OwnersRoom<std::byte>(block, size)};
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
