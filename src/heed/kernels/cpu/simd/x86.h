#pragma once

// For files with x86 intrinsics.
#if defined(__x86_64__) && defined(__linux__)
#define HEED_X86 1
#else
#define HEED_X86 0
#endif

// GCC 12 warns of the deliberately undefined operands inside its own intrinsics.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
