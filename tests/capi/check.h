#pragma once

/* What the tests in C check with. */

#include <heed/c.h>
#include <stdio.h>
#include <string.h>

static int failures;
static heed_error last_error = HEED_ERROR_INIT;

static void check(int holds, const char* what, const char* file, int line) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "%s:%d: %s; the last error: %s\n", file, line, what, last_error.message);
}

#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)
/* Calls heed, with &last_error as the last argument. */
#define OK(call) CHECK((call) == HEED_OK)
#define FAILS(expected, call) CHECK((call) == (expected) && last_error.message[0] != '\0')

static inline int is_text(heed_string text, const char* expected) {
  return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}
