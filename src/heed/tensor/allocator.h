#pragma once

#include <cstddef>
#include <memory>

namespace heed {

/// Memory for `bytes` bytes, aligned to 64, contents undefined. Blocks come from a pool and return
/// to it, so a training or decoding loop in its steady state asks nothing of the operating system;
/// large ones are cut from one arena, where they serve any size next. Throws Error when there is no
/// memory left.
std::shared_ptr<std::byte> allocate(size_t bytes);

/// Counts `bytes` as in use for as long as the result lives, without any memory: what comes and
/// goes within a step is counted once.
std::shared_ptr<void> reserve(size_t bytes);

/// Bytes in use by live blocks and reservations, and the most there ever were since the last reset.
size_t allocated_bytes();
size_t peak_allocated_bytes();
void reset_peak_allocated_bytes();

/// Gives the pool's free blocks back to the operating system.
void release_free_memory();

}  // namespace heed
