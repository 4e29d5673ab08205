#pragma once

#include <cstddef>

// GCC defines the first, Clang has the second.
#if defined(__SANITIZE_ADDRESS__)
#define HEED_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEED_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(HEED_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace heed {

/// Makes AddressSanitizer report accesses to free memory of an allocator of heed's own; without the
/// sanitizer, nothing.
inline void poison_memory([[maybe_unused]] const void* begin, [[maybe_unused]] size_t size) {
#if defined(HEED_ADDRESS_SANITIZER)
  ASAN_POISON_MEMORY_REGION(begin, size);
#endif
}
/// Makes accesses valid again.
inline void unpoison_memory([[maybe_unused]] const void* begin, [[maybe_unused]] size_t size) {
#if defined(HEED_ADDRESS_SANITIZER)
  ASAN_UNPOISON_MEMORY_REGION(begin, size);
#endif
}

}  // namespace heed
