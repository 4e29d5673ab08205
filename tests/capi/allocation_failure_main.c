/* Lets each allocation of a generation, and each of a load that is not small, fail in turn, in heed
   and in the libraries below it: the call returns an error, the process lives, and nothing is left
   behind. Small ones of a load are left alone: nlohmann-json allocates when it destroys a value,
   and cannot bear that this fails.

     capi_allocation_failure MODEL      a directory of a decoder-only model

   The program replaces malloc and the functions beside it by ones that count. */
#define _GNU_SOURCE
#include <errno.h>
#include <heed/c.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static atomic_long countdown = -1; /* allocations until one fails; negative: none does */
static atomic_long allocations;    /* since they were last set to 0 */
static atomic_long failed;
static atomic_size_t smallest; /* bytes of those that count */

static int fails(size_t size) {
  long left;
  if (size < atomic_load(&smallest)) return 0;
  atomic_fetch_add(&allocations, 1);
  if (atomic_load(&countdown) < 0) return 0;
  left = atomic_fetch_sub(&countdown, 1);
  if (left != 0) return 0;
  atomic_fetch_add(&failed, 1);
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return fails(size) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) {
  return fails(count * size) ? NULL : __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  return fails(size) ? NULL : __libc_realloc(memory, size);
}
void* memalign(size_t alignment, size_t size) {
  return fails(size) ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

enum { SMALL = 4096 };

static heed_error last_error = HEED_ERROR_INIT;

/* Loads the model, generates from two tokens and frees everything. */
static heed_status run(const char* path) {
  static const int32_t tokens[] = {1, 2};
  heed_model* model = NULL;
  heed_generate_result* result = NULL;
  heed_generate_options options;
  heed_prompt prompt;
  heed_status status;
  memset(&prompt, 0, sizeof(prompt));
  prompt.tokens = tokens;
  prompt.token_count = 2;
  heed_generate_options_init(&options);
  options.max_new_tokens = 3;
  atomic_store(&smallest, SMALL);
  status = heed_model_load(path, NULL, &model, &last_error);
  atomic_store(&smallest, 0);
  if (status != HEED_OK) return status;
  status = heed_generate(model, &prompt, 1, &options, &result, &last_error);
  if (status == HEED_OK) heed_generate_result_free(result, NULL);
  heed_model_free(model, NULL);
  return status;
}

static size_t bytes_in_use(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }

int main(int argc, char** argv) {
  enum { WARM_UP = 3, SLACK = 1 << 20 };
  long count, i, survived = 0;
  size_t before;
  if (argc != 2) return 2;
  for (i = 0; i < WARM_UP; ++i) {
    atomic_store(&allocations, 0);
    if (run(argv[1]) != HEED_OK) {
      fprintf(stderr, "without a failure: %s\n", last_error.message);
      return 1;
    }
  }
  count = atomic_load(&allocations);
  before = bytes_in_use();
  for (i = 0; i < count; ++i) {
    heed_status status;
    atomic_store(&failed, 0);
    atomic_store(&countdown, i);
    status = run(argv[1]);
    atomic_store(&countdown, -1);
    if (status == HEED_OK) {
      survived += atomic_load(&failed); /* an allocation that heed can do without */
    } else if (last_error.message[0] == '\0') {
      fprintf(stderr, "allocation %ld: status %d without a message\n", i, (int)status);
      return 1;
    }
  }
  if (run(argv[1]) != HEED_OK) {
    fprintf(stderr, "after the failures: %s\n", last_error.message);
    return 1;
  }
  if (bytes_in_use() > before + SLACK) {
    fprintf(stderr, "%zu bytes are left behind\n", bytes_in_use() - before);
    return 1;
  }
  printf("passed: %ld allocations failed, %ld of them without consequence\n", count, survived);
  return 0;
}
