#include <stdlib.h>

#include "tests/capi/areas.h"
#include "tests/capi/check.h"

static void join(char* path, size_t size, const char* folder, const char* name) {
  snprintf(path, size, "%s/%s", folder, name);
}

int test_quantize(const struct test_paths* paths) {
  char copy[512];
  heed_quantize_options options;
  heed_quantize_result* result = NULL;
  heed_quantize_facts facts;
  heed_string type;
  int64_t matrices = 0;
  failures = 0;
  facts.struct_size = sizeof(facts);
  join(copy, sizeof(copy), paths->out, "copy");
  OK(heed_quantize_options_init(&options));
  options.weights = HEED_WEIGHTS_F32;
  FAILS(HEED_ERROR_FAILED, heed_quantize(paths->decoder, copy, &options, &result, &last_error));
  options.weights = HEED_WEIGHTS_Q8_0;
  OK(heed_quantize(paths->decoder, copy, &options, &result, &last_error));
  OK(heed_quantize_result_get(result, &facts, &last_error));
  CHECK(facts.bytes_after < facts.bytes_before && facts.bits_per_weight_after < 10);
  CHECK(facts.type_count == 1 && facts.measure.data == NULL);
  OK(heed_quantize_result_type(result, 0, &type, &matrices, &last_error));
  CHECK(is_text(type, "q8_0") && matrices > 0);
  OK(heed_quantize_result_free(result, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_quantize(paths->decoder, copy, &options, NULL, &last_error));
  return failures;
}

struct run {
  int lines, steps, validations, stop_at;
};

static int on_log(void* user_data, heed_string line) {
  struct run* run = user_data;
  run->lines += line.size > 0;
  return 0;
}

static int on_step(void* user_data, const heed_train_step* step) {
  struct run* run = user_data;
  CHECK(step->loss > 0 && step->planned_steps == 8);
  ++run->steps;
  return step->step == run->stop_at;
}

static int on_validation(void* user_data, const heed_validation* validation) {
  struct run* run = user_data;
  CHECK(validation->perplexity > 1 && validation->bleu != validation->bleu);
  ++run->validations;
  return 0;
}

int test_train(const struct test_paths* paths) {
  static const char config[] =
      "[model]\nd_model = 16\nnum_attention_heads = 2\nnum_key_value_heads = 2\nd_ff = 32\n"
      "decoder_layers = 1\nmax_position_embeddings = 64\n"
      "[run]\nminutes = 0\nmax_steps = 8\ntoken_budget = 128\n[vocabulary]\nsize = 270\n";
  const char* assignments[3] = {"run.task=causal-lm", NULL, "validation.eval_steps=4"};
  char out[512], text[512], assignment[600];
  char* toml = malloc(65536);
  size_t size = 0;
  heed_train_options options;
  heed_model* model = NULL;
  struct run run;
  FILE* file;
  int i;
  failures = 0;
  memset(&run, 0, sizeof(run));
  join(out, sizeof(out), paths->out, "run");
  join(text, sizeof(text), paths->out, "text");
  file = fopen(text, "w");
  for (i = 0; i < 200; ++i) fputs("the old man and the sea\n", file);
  fclose(file);
  snprintf(assignment, sizeof(assignment), "data.text=%s", text);
  OK(heed_train_options_init(&options));
  options.out = out;
  options.preset = "llama-tiny";
  options.config = config;
  options.assignments = assignments;
  options.assignment_count = 3;
  options.on_log = on_log;
  options.on_step = on_step;
  options.on_validation = on_validation;
  options.user_data = &run;
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_train(&options, &last_error)); /* NULL among them */
  assignments[1] = assignment;
  OK(heed_training_config(&options, toml, 65536, &size, &last_error));
  CHECK(strstr(toml, "max_steps = 8") != NULL && strlen(toml) == size);
  run.stop_at = 3;
  FAILS(HEED_ERROR_CANCELLED, heed_train(&options, &last_error));
  CHECK(run.steps == 3 && run.validations == 0 && run.lines > 0);
  options.resume = 1;
  run.stop_at = 0;
  OK(heed_train(&options, &last_error));
  CHECK(run.steps == 8 && run.validations >= 2);
  OK(heed_model_load(out, NULL, &model, &last_error));
  OK(heed_model_free(model, &last_error));
  options.config = "[run]\nmax_stepps = 3\n";
  FAILS(HEED_ERROR_FAILED, heed_train(&options, &last_error));
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_train(NULL, &last_error));
  free(toml);
  return failures;
}
