#pragma once

/* What all of heed's C functions share: statuses, errors, strings, threads. docs/c.md explains the
   conventions. C99, and C++. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "heed/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What every function returns: one of the HEED_ constants below. */
typedef int32_t heed_status;

enum {
  HEED_OK = 0,                     /* no error */
  HEED_ERROR_INVALID_ARGUMENT = 1, /* NULL, a size or a constant out of range */
  HEED_ERROR_INVALID_HANDLE = 2,   /* NULL, freed, or of another type */
  HEED_ERROR_FAILED = 3,           /* what the message says: a damaged file, a wrong option */
  HEED_ERROR_OUT_OF_MEMORY = 4,    /* memory ran out */
  HEED_ERROR_CANCELLED = 5,        /* a callback returned non-zero */
  HEED_ERROR_BUFFER_TOO_SMALL = 6, /* the size that is needed was written */
  HEED_ERROR_BUSY = 7 /* a session or stream is used by another thread, or in its step */
};

/* Bytes of heed_error.message, with its NUL. */
#define HEED_ERROR_MESSAGE_SIZE 1024

/* Where a function says what went wrong; the last parameter of each, NULL if nobody asks. Of the
   caller, who initialises it once with HEED_ERROR_INIT and may use it for any number of calls. */
typedef struct heed_error {
  size_t struct_size;
  heed_status status;                    /* what the call returned */
  char message[HEED_ERROR_MESSAGE_SIZE]; /* one line, ends with NUL; empty after HEED_OK */
} heed_error;

/* What a heed_error begins with. */
#define HEED_ERROR_INIT                \
  {                                    \
    sizeof(heed_error), HEED_OK, { 0 } \
  }

/* UTF-8 of `size` bytes, at most 2^31 - 1, that may hold NUL and need not end with it. Where heed
   returns one, NUL follows. */
typedef struct heed_string {
  const char* data; /* not ended by NUL unless heed returned it; NULL: no string */
  size_t size;      /* bytes */
} heed_string;

/* A heed_string of a text that ends with NUL. */
static inline heed_string heed_string_of(const char* text) {
  heed_string string;
  string.data = text;
  string.size = text ? strlen(text) : 0;
  return string;
}

/* The version of the library, "0.1.0". */
HEED_EXPORT heed_status heed_version(heed_string* version, heed_error* error);
/* The name of a status: "HEED_ERROR_FAILED". */
HEED_EXPORT heed_status heed_status_name(heed_status status, heed_string* name, heed_error* error);

/* For numbers in option structs that a model's files or heed choose unless they are set. */
#define HEED_DEFAULT (-1)

/* Handles. Their values are numbers that are never used twice, not addresses. */
typedef struct heed_executor heed_executor;

/* Threads to compute on. `threads` counts the calling one: 1 to 1024, or 0 for all processors. */
HEED_EXPORT heed_status heed_executor_create(int32_t threads, heed_executor** executor,
                                             heed_error* error);
/* How many threads there are, with the calling one. */
HEED_EXPORT heed_status heed_executor_threads(heed_executor* executor, int32_t* threads,
                                              heed_error* error);
/* Its threads end when nothing uses it any more. */
HEED_EXPORT heed_status heed_executor_free(heed_executor* executor, heed_error* error);

#ifdef __cplusplus
}
#endif
