#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <utility>

namespace heed {

/// Memory for `bytes` bytes, aligned to 64, contents undefined. Blocks come from a pool and return
/// to it, so that a training or decoding loop in its steady state makes no system calls for memory.
/// Large blocks come from one arena, where freed memory serves any size. Throws Error if there is
/// no memory left.
std::shared_ptr<std::byte> allocate(size_t bytes);

/// Memory of the pool for the standard library's containers.
std::pmr::memory_resource& pool_resource();

/// Bytes that count as in use while this lives, without allocating them. A copy counts the same
/// number again.
class Reservation {
 public:
  Reservation() = default;
  explicit Reservation(size_t bytes);
  Reservation(const Reservation& other) : Reservation(other.bytes_) {}
  Reservation(Reservation&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  Reservation& operator=(Reservation other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Reservation();

 private:
  size_t bytes_ = 0;
};

/// Bytes in use by live blocks and reservations, and their peak since the last reset.
size_t allocated_bytes();
size_t peak_allocated_bytes();
void reset_peak_allocated_bytes();

/// Returns the pool's free blocks to the operating system.
void release_free_memory();

}  // namespace heed
