#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

// What heed asks of the system beyond POSIX. Where a system lacks it, the fallback costs only speed
// or memory (docs/platforms.md).

namespace heed {

/// Processors that this process may use, at least 1.
int available_processors();

/// Tells the processor that the calling thread waits in a loop.
inline void pause_spinning() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");  // most processors do nothing for "yield"
#endif
}

/// Exchanges the names of two directories in one step. False, with errno, if that failed: ENOSYS,
/// EINVAL or EOPNOTSUPP if the system or the file system cannot.
bool exchange_names(const std::filesystem::path& a, const std::filesystem::path& b);

enum class PageAdvice {
  release,      // their contents may be lost, or read from their file again
  large_pages,  // use huge ones
  small_pages   // use no huge ones
};
/// Advises the system about pages. Errors are ignored: only the use of memory depends on it.
void advise_pages(void* begin, size_t size, PageAdvice advice);

/// Bytes of a core's level-2 cache; 0 if unknown.
int64_t level2_cache_bytes();

}  // namespace heed
