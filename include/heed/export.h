#pragma once

/// Marks what libheed.so exports; everything else in it is hidden.
#if defined(__GNUC__)
#define HEED_EXPORT __attribute__((visibility("default")))
#else
#define HEED_EXPORT
#endif
