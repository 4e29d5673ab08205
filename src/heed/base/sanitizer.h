#pragma once

// Marks memory that must not be used, for AddressSanitizer: ASAN_POISON_MEMORY_REGION(address,
// size) and ASAN_UNPOISON_MEMORY_REGION(address, size). They do nothing without it, nor where the
// compiler has no header of it.
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) \
  (static_cast<void>(address), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) \
  (static_cast<void>(address), static_cast<void>(size))
#endif
