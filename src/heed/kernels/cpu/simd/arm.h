#pragma once

// For files with intrinsics of 64-bit Arm.
#if defined(__aarch64__)
#define HEED_ARM64 1
#else
#define HEED_ARM64 0
#endif

// The target of functions that use SDOT, for HWY_PUSH_ATTRIBUTES.
#if defined(__clang__)
#define HEED_ARM_DOT "dotprod"
#else
#define HEED_ARM_DOT "arch=armv8.2-a+dotprod"
#endif
