#include <stdlib.h>

#include "tests/capi/areas.h"
#include "tests/capi/check.h"

static void test_base(void) {
  heed_string text;
  heed_error small;
  heed_model* model = NULL;
  OK(heed_version(&text, &last_error));
  CHECK(text.size >= 5 && strchr(text.data, '.') != NULL);
  OK(heed_status_name(HEED_ERROR_BUSY, &text, &last_error));
  CHECK(is_text(text, "HEED_ERROR_BUSY"));
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_status_name(99, &text, &last_error));
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_status_name(-1, &text, &last_error));
  CHECK(last_error.status == HEED_ERROR_INVALID_ARGUMENT);
  OK(heed_version(&text, &last_error));
  CHECK(last_error.status == HEED_OK && last_error.message[0] == '\0');
  CHECK(heed_status_name(99, &text, NULL) == HEED_ERROR_INVALID_ARGUMENT);

  /* A struct of a program whose messages are shorter, and one that was not initialised. */
  memset(&small, 'x', sizeof(small));
  small.struct_size = offsetof(heed_error, message) + 8;
  CHECK(heed_model_load("/absent/model", NULL, &model, &small) == HEED_ERROR_FAILED);
  CHECK(strlen(small.message) == 7 && small.message[8] == 'x');
  small.struct_size = 0;
  CHECK(heed_version(&text, &small) == HEED_ERROR_INVALID_ARGUMENT);
}

static void test_options(const struct test_paths* paths) {
  heed_load_options options;
  heed_model* model = NULL;
  struct {
    heed_load_options known;
    int64_t later;
  } newer;
  memset(&options, 'x', sizeof(options));
  OK(heed_load_options_init(&options));
  CHECK(options.struct_size == sizeof(options) && options.weights == HEED_DEFAULT &&
        options.executor == NULL);

  /* An older program knows only the first members; the library must not read the others. */
  memset(&options, 0xff, sizeof(options));
  OK(heed_load_options_init_sized(&options, offsetof(heed_load_options, rope_context),
                                  &last_error));
  CHECK(options.rope_context == -1 && options.adapter_count == SIZE_MAX);
  OK(heed_model_load(paths->decoder, &options, &model, &last_error));
  OK(heed_model_free(model, &last_error));

  /* A newer one may have more, as long as it does not use it. */
  OK(heed_load_options_init_sized(&newer.known, sizeof(newer), &last_error));
  CHECK(newer.later == 0);
  OK(heed_model_load(paths->decoder, &newer.known, &model, &last_error));
  OK(heed_model_free(model, &last_error));
  newer.later = 1;
  FAILS(HEED_ERROR_INVALID_ARGUMENT,
        heed_model_load(paths->decoder, &newer.known, &model, &last_error));
  CHECK(model == NULL);

  OK(heed_load_options_init(&options));
  options.weights = 77;
  FAILS(HEED_ERROR_INVALID_ARGUMENT,
        heed_model_load(paths->decoder, &options, &model, &last_error));
  options.weights = HEED_WEIGHTS_Q8_0;
  options.compute = HEED_COMPUTE_BF16;
  options.cache = HEED_COMPUTE_INT8;
  OK(heed_model_load(paths->decoder, &options, &model, &last_error));
  OK(heed_model_free(model, &last_error));
  options.device = "tpu";
  FAILS(HEED_ERROR_FAILED, heed_model_load(paths->decoder, &options, &model, &last_error));
  options.device = "cpu";
  options.compute = HEED_COMPUTE_INT8; /* for which weights are packed */
  options.weight_cache = "/dev/null";  /* no directory */
  FAILS(HEED_ERROR_FAILED, heed_model_load(paths->decoder, &options, &model, &last_error));
}

static void test_tokens(heed_model* model) {
  int32_t tokens[32];
  char text[64];
  size_t count = 0, size = 0;
  const heed_string sentence = heed_string_of("the old sea");
  OK(heed_tokenize(model, sentence, 1, tokens, 32, &count, &last_error));
  CHECK(count > 0 && count <= 32);
  FAILS(HEED_ERROR_BUFFER_TOO_SMALL,
        heed_tokenize(model, sentence, 1, NULL, 0, &size, &last_error));
  CHECK(size == count);
  OK(heed_detokenize(model, tokens, count, 1, text, sizeof(text), &size, &last_error));
  CHECK(size == 11 && strcmp(text, "the old sea") == 0);
  FAILS(HEED_ERROR_BUFFER_TOO_SMALL,
        heed_detokenize(model, tokens, count, 1, text, 11, &size, &last_error));
  CHECK(size == 11);
  OK(heed_detokenize(model, tokens, count, 1, text, 12, &size, &last_error));
  OK(heed_token_text(model, tokens[0], text, sizeof(text), &size, &last_error));
  CHECK(size > 0 && strlen(text) == size);
  FAILS(HEED_ERROR_FAILED, heed_token_text(model, 1 << 30, text, 64, &size, &last_error));
  size_t length = 0;
  for (size_t i = 0; i < count; ++i, length += size)
    OK(heed_token_bytes(model, tokens[i], text + length, sizeof(text) - length, &size,
                        &last_error));
  CHECK(strstr(text, " the old sea") != NULL);
  FAILS(HEED_ERROR_FAILED, heed_token_bytes(model, 1 << 30, text, 64, &size, &last_error));
  OK(heed_model_eos_ids(model, tokens, 32, &count, &last_error));
  CHECK(count == 1 && tokens[0] == 2);
}

int test_model(const struct test_paths* paths) {
  heed_load_options options;
  heed_executor* executor = NULL;
  heed_model* model = NULL;
  heed_model_facts facts;
  int32_t threads = 0;
  failures = 0;
  test_base();
  test_options(paths);

  OK(heed_executor_create(2, &executor, &last_error));
  OK(heed_executor_threads(executor, &threads, &last_error));
  CHECK(threads == 2);
  OK(heed_load_options_init(&options));
  options.executor = executor;
  OK(heed_model_load(paths->decoder, &options, &model, &last_error));
  /* The model keeps its executor. */
  OK(heed_executor_free(executor, &last_error));
  FAILS(HEED_ERROR_INVALID_HANDLE, heed_model_load(paths->decoder, &options, &model, &last_error));
  OK(heed_load_options_init(&options));
  OK(heed_model_load(paths->decoder, &options, &model, &last_error));

  facts.struct_size = sizeof(facts);
  OK(heed_model_get_facts(model, &facts, &last_error));
  CHECK(is_text(facts.family, "llama") && !facts.has_encoder && facts.has_decoder);
  CHECK(facts.has_tokenizer && !facts.has_chat_template && facts.context_length == 64);
  CHECK(facts.vocab_size == 120 && facts.embedding_size == 64);
  /* The tests also run where the simulated GPU is the driver's. */
  if (getenv("HEED_CUDA_DRIVER")) CHECK(is_text(facts.gpu, "GPU 0 (simulated GPU)"));
  /* An older program has a smaller struct. */
  facts.vocab_size = 7;
  facts.struct_size = offsetof(heed_model_facts, vocab_size);
  OK(heed_model_get_facts(model, &facts, &last_error));
  CHECK(facts.vocab_size == 7 && facts.struct_size == offsetof(heed_model_facts, vocab_size));
  test_tokens(model);
  OK(heed_model_free(model, &last_error));
  FAILS(HEED_ERROR_INVALID_HANDLE, heed_model_free(model, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_executor_create(-3, &executor, &last_error));
  return failures;
}
