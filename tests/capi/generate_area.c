#include <math.h>
#include <string.h>

#include "tests/capi/areas.h"
#include "tests/capi/check.h"

struct stream {
  char text[512];
  size_t size;
  int calls_left;
};

static int on_text(void* user_data, heed_string text) {
  struct stream* stream = user_data;
  if (stream->size + text.size < sizeof(stream->text)) {
    memcpy(stream->text + stream->size, text.data, text.size);
    stream->size += text.size;
  }
  return --stream->calls_left == 0;
}

static void check_log_probabilities(const heed_generation* generation) {
  size_t t, i;
  CHECK(generation->chosen != NULL && generation->best_offsets[0] == 0);
  for (t = 0; t < generation->token_count; ++t) {
    CHECK(generation->chosen[t].token == generation->tokens[t]);
    CHECK(generation->best_offsets[t + 1] - generation->best_offsets[t] == 3);
    for (i = generation->best_offsets[t]; i < generation->best_offsets[t + 1]; ++i)
      CHECK(isfinite(generation->best[i].log_probability));
    /* Greedy: the most probable one was chosen. */
    CHECK(generation->best[generation->best_offsets[t]].token == generation->tokens[t]);
  }
}

/* What an output must match is in a struct of its own. */
static void check_structured_output(heed_model* model) {
  const heed_string choices[] = {{"sheep", 5}, {"ship", 4}};
  heed_prompt prompt;
  heed_generate_options options;
  heed_structured_output output;
  heed_generate_result* result = NULL;
  heed_generation generation;
  generation.struct_size = sizeof(generation);
  memset(&prompt, 0, sizeof(prompt));
  prompt.text = heed_string_of("the sea");
  OK(heed_generate_options_init(&options));
  CHECK(options.structured_output == NULL);
  options.max_new_tokens = 40;
  options.structured_output = &output;
  OK(heed_structured_output_init(&output));
  CHECK(output.json_schema == NULL && output.json_white_space == HEED_JSON_SPACE_FREE);
  output.json_schema = "{\"const\": null}";
  output.json_white_space = HEED_JSON_SPACE_SPACED;
  OK(heed_generate(model, &prompt, 1, &options, &result, &last_error));
  OK(heed_generate_result_get(result, 0, &generation, &last_error));
  CHECK(is_text(generation.text, "null"));
  CHECK(generation.finish_reason == HEED_FINISH_STOP);
  OK(heed_generate_result_free(result, &last_error));

  output.choice = choices;
  output.choice_count = 2;
  FAILS(HEED_ERROR_FAILED, heed_generate(model, &prompt, 1, &options, &result, &last_error));
  output.json_schema = NULL;
  FAILS(HEED_ERROR_FAILED, heed_generate(model, &prompt, 1, &options, &result, &last_error));
  output.json_white_space = 3;
  FAILS(HEED_ERROR_INVALID_ARGUMENT,
        heed_generate(model, &prompt, 1, &options, &result, &last_error));
  output.json_white_space = HEED_JSON_SPACE_FREE;
  OK(heed_generate(model, &prompt, 1, &options, &result, &last_error));
  OK(heed_generate_result_get(result, 0, &generation, &last_error));
  CHECK(is_text(generation.text, "sheep") || is_text(generation.text, "ship"));
  OK(heed_generate_result_free(result, &last_error));
}

int test_generate(const struct test_paths* paths) {
  static const int32_t tokens[] = {5, 9, 20};
  heed_generate_options options;
  heed_model* model = NULL;
  heed_generate_result* batch = NULL;
  heed_generate_result* one = NULL;
  heed_generation first, second;
  heed_prompt prompts[2];
  heed_string stop;
  struct stream stream;
  size_t count = 0;
  failures = 0;
  memset(prompts, 0, sizeof(prompts));
  prompts[0].text = heed_string_of("the sea");
  prompts[1].tokens = tokens;
  prompts[1].token_count = 3;
  OK(heed_model_load(paths->decoder, NULL, &model, &last_error));
  OK(heed_generate_options_init(&options));
  options.max_new_tokens = 8;
  options.top_log_probabilities = 3;
  OK(heed_generate(model, prompts, 2, &options, &batch, &last_error));
  OK(heed_generate_result_count(batch, &count, &last_error));
  CHECK(count == 2);
  first.struct_size = second.struct_size = sizeof(first);
  OK(heed_generate_result_get(batch, 0, &first, &last_error));
  CHECK(first.token_count == 8 && first.finish_reason == HEED_FINISH_LENGTH);
  CHECK(first.stop_string.data == NULL && first.text.data[first.text.size] == '\0');
  check_log_probabilities(&first);
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_generate_result_get(batch, 2, &second, &last_error));

  /* The streamed text is the text. */
  memset(&stream, 0, sizeof(stream));
  OK(heed_generate_stream(model, &prompts[0], &options, on_text, &stream, &one, &last_error));
  CHECK(is_text(first.text, stream.text));
  OK(heed_generate_result_get(one, 0, &second, &last_error));
  CHECK(second.token_count == 8 && memcmp(first.tokens, second.tokens, 8 * sizeof(int32_t)) == 0);
  OK(heed_generate_result_free(one, &last_error));

  /* A callback that returns non-zero ends it, and there is no result. */
  memset(&stream, 0, sizeof(stream));
  stream.calls_left = 2;
  FAILS(HEED_ERROR_CANCELLED,
        heed_generate_stream(model, &prompts[0], &options, on_text, &stream, &one, &last_error));
  CHECK(one == NULL && stream.calls_left == 0);

  /* A stop string ends an output and is named. */
  stop.data = first.text.data + first.text.size / 2;
  stop.size = 1;
  options.stop = &stop;
  options.stop_count = 1;
  OK(heed_generate(model, prompts, 1, &options, &one, &last_error));
  OK(heed_generate_result_get(one, 0, &second, &last_error));
  CHECK(second.finish_reason == HEED_FINISH_STOP && second.stop_string.size == 1);
  CHECK(second.text.size < first.text.size);
  OK(heed_generate_result_free(one, &last_error));

  check_structured_output(model);
  options.temperature = -1;
  FAILS(HEED_ERROR_FAILED, heed_generate(model, prompts, 1, &options, &one, &last_error));
  OK(heed_generate(model, NULL, 0, NULL, &one, &last_error));
  OK(heed_generate_result_count(one, &count, &last_error));
  CHECK(count == 0);
  OK(heed_generate_result_free(one, &last_error));
  /* Results outlive their model. */
  OK(heed_model_free(model, &last_error));
  OK(heed_generate_result_get(batch, 1, &second, &last_error));
  OK(heed_generate_result_free(batch, &last_error));
  return failures;
}

static int count_sentences(void* user_data, int64_t done, int64_t all) {
  *(int64_t*)user_data = done;
  return all != 3;
}

static int cancel(void* user_data, int64_t done, int64_t all) {
  (void)user_data, (void)done, (void)all;
  return 1;
}

int test_document(const struct test_paths* paths) {
  const heed_string document = heed_string_of("the old sea. The ship\n\n  in the sea\n");
  heed_document_options options;
  heed_model* model = NULL;
  heed_document_result* result = NULL;
  heed_string text;
  int64_t done = 0;
  failures = 0;
  OK(heed_model_load(paths->translator, NULL, &model, &last_error));
  OK(heed_document_options_init(&options));
  OK(heed_translate_document(model, document, &options, count_sentences, &done, &result,
                             &last_error));
  CHECK(done == 3);
  OK(heed_document_result_text(result, &text, &last_error));
  CHECK(text.size > 6 && text.data[text.size - 1] == '\n');
  OK(heed_document_result_free(result, &last_error));
  FAILS(HEED_ERROR_CANCELLED,
        heed_translate_document(model, document, NULL, cancel, NULL, &result, &last_error));
  options.format = "rtf";
  FAILS(HEED_ERROR_FAILED,
        heed_translate_document(model, document, &options, NULL, NULL, &result, &last_error));
  OK(heed_model_free(model, &last_error));
  return failures;
}

int test_search(const struct test_paths* paths) {
  const heed_string lines[] = {{"the old sea", 11}, {"", 0}, {"a ship", 6}};
  heed_translate_options options;
  heed_search_options search;
  heed_model* model = NULL;
  heed_search_result* result = NULL;
  heed_candidate best, next;
  heed_confidence confidence;
  heed_confidence_report report;
  heed_prompt prompt;
  const int32_t* source = NULL;
  const heed_string gull = heed_string_of("gull"), ship = heed_string_of("ship");
  const heed_glossary_term terms[] = {{heed_string_of("the old"), &gull, 1, 0, 0}};
  size_t count = 0;
  failures = 0;
  best.struct_size = next.struct_size = sizeof(best);
  OK(heed_model_load(paths->translator, NULL, &model, &last_error));
  OK(heed_search_options_init(&search));
  OK(heed_translate_options_init(&options));
  search.num_beams = 3;
  search.n_best = 2;
  options.search = &search;
  options.alignments = 1;
  OK(heed_translate(model, lines, 3, &options, &result, &last_error));
  OK(heed_search_result_count(result, &count, &last_error));
  CHECK(count == 3);
  OK(heed_search_result_candidates(result, 0, &count, &last_error));
  CHECK(count == 2);
  OK(heed_search_result_get(result, 0, 0, &best, &last_error));
  OK(heed_search_result_get(result, 0, 1, &next, &last_error));
  CHECK(best.score >= next.score && best.log_probability < 0 && best.token_count > 0);
  CHECK(best.alignment_count > 0 && best.alignment[0].source >= 0 && best.alignment[0].source < 3);
  OK(heed_search_result_source(result, 0, &source, &count, &last_error));
  CHECK(count > 1 && source != NULL);
  OK(heed_search_result_candidates(result, 1, &count, &last_error));
  CHECK(count == 0);
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_search_result_get(result, 1, 0, &best, &last_error));
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_search_result_get(result, 3, 0, &best, &last_error));
  FAILS(HEED_ERROR_INVALID_ARGUMENT,
        heed_search_result_confidence(result, 0, 0, &confidence, &last_error));
  OK(heed_search_result_free(result, &last_error));
  OK(heed_translate(model, lines, 1, NULL, &result, &last_error));
  OK(heed_search_result_free(result, &last_error));
  options.glossary = terms;
  options.glossary_count = 1;
  options.do_not_translate = &ship;
  options.do_not_translate_count = 1;
  OK(heed_translate(model, lines, 3, &options, &result, &last_error));
  OK(heed_search_result_get(result, 0, 0, &best, &last_error));
  CHECK(strstr(best.text.data, "gull") != NULL && strstr(best.text.data, "ship") == NULL);
  OK(heed_search_result_get(result, 2, 0, &best, &last_error));
  CHECK(strstr(best.text.data, "ship") != NULL);
  OK(heed_search_result_free(result, &last_error));
  options.glossary_count = options.do_not_translate_count = 0;
  options.then = model; /* a second step, with alignments of the source */
  OK(heed_translate(model, lines, 1, &options, &result, &last_error));
  OK(heed_search_result_get(result, 0, 0, &best, &last_error));
  CHECK(best.text.size > 0 && best.alignment_count > 0 && best.alignment[0].source < 3);
  OK(heed_search_result_free(result, &last_error));
  options.then = NULL;
  options.confidence = 1; /* of a model without a calibration */
  FAILS(HEED_ERROR_FAILED, heed_translate(model, lines, 1, &options, &result, &last_error));
  CHECK(strstr(last_error.message, "confidence.json") != NULL);
  options.confidence = 0;
  report.struct_size = sizeof(report);
  FAILS(HEED_ERROR_FAILED, heed_calibrate_confidence(model, lines, lines, 1, &options, &report,
                                                     &last_error)); /* too few words */
  FAILS(HEED_ERROR_FAILED, heed_evaluate_confidence(model, lines, lines, 1, &options, &report,
                                                    &last_error)); /* no calibration */
  options.first_number = 41;
  search.num_beams = 0;
  FAILS(HEED_ERROR_FAILED, heed_translate(model, lines, 1, &options, &result, &last_error));
  OK(heed_model_free(model, &last_error));

  OK(heed_model_load(paths->decoder, NULL, &model, &last_error));
  search.num_beams = 4;
  search.n_best = 4;
  memset(&prompt, 0, sizeof(prompt));
  prompt.text = heed_string_of("the sea");
  OK(heed_search(model, &prompt, 1, &search, NULL, &result, &last_error));
  OK(heed_search_result_candidates(result, 0, &count, &last_error));
  CHECK(count == 4);
  OK(heed_search_result_source(result, 0, &source, &count, &last_error));
  CHECK(count == 0);
  OK(heed_search_result_free(result, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_translate(model, lines, 1, NULL, &result, &last_error));
  OK(heed_model_free(model, &last_error));
  return failures;
}

/* Messages without JSON by hand. */
static void test_chat_messages(heed_model* model) {
  const heed_tool_call call = {heed_string_of("1"), heed_string_of("depth"), heed_string_of("{}")};
  heed_chat_message messages[2];
  char text[300];
  size_t size = 0;
  heed_chat_result* result = NULL;
  heed_generate_options generate;
  memset(messages, 0, sizeof(messages));
  messages[0].role = heed_string_of("user");
  messages[0].content = heed_string_of("say \"the\nsea\"");
  messages[1].role = heed_string_of("assistant");
  messages[1].tool_calls = &call;
  messages[1].tool_call_count = 1;
  FAILS(HEED_ERROR_BUFFER_TOO_SMALL, heed_chat_messages(messages, 2, text, 10, &size, &last_error));
  CHECK(size > 10 && size < sizeof(text));
  OK(heed_chat_messages(messages, 2, text, sizeof(text), &size, &last_error));
  CHECK(strlen(text) == size && strstr(text, "say \\\"the\\nsea\\\"") != NULL);
  CHECK(strstr(text, "\"depth\"") != NULL);
  OK(heed_generate_options_init(&generate));
  generate.max_new_tokens = 1;
  OK(heed_chat_messages(messages, 1, text, sizeof(text), &size, &last_error));
  OK(heed_chat(model, heed_string_of(text), NULL, &generate, NULL, NULL, &result, &last_error));
  OK(heed_chat_result_free(result, &last_error));
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_chat_messages(NULL, 1, text, 300, &size, &last_error));
}

static int on_answer(void* user_data, const heed_chat_answer* part) {
  return part->struct_size < sizeof(*part) || on_text(user_data, part->content);
}

int test_chat(const struct test_paths* paths) {
  const heed_string messages = heed_string_of("[{\"role\": \"user\", \"content\": \"the sea\"}]");
  heed_generate_options generate;
  heed_chat_options options;
  heed_model* model = NULL;
  heed_chat_result* result = NULL;
  heed_chat_answer answer;
  heed_generation generation;
  struct stream stream;
  failures = 0;
  answer.struct_size = sizeof(answer);
  generation.struct_size = sizeof(generation);
  OK(heed_model_load(paths->chat, NULL, &model, &last_error));
  OK(heed_generate_options_init(&generate));
  generate.max_new_tokens = 6;
  memset(&stream, 0, sizeof(stream));
  OK(heed_chat(model, messages, NULL, &generate, on_answer, &stream, &result, &last_error));
  OK(heed_chat_result_answer(result, &answer, &last_error));
  CHECK(answer.content.size > 0 && is_text(answer.content, stream.text));
  CHECK(answer.tool_call_count == 0 && !answer.malformed_tool_call);
  OK(heed_chat_result_generation(result, &generation, &last_error));
  CHECK(generation.token_count > 0 && generation.token_count <= 6);
  OK(heed_chat_result_free(result, &last_error));
  memset(&stream, 0, sizeof(stream));
  stream.calls_left = 1;
  result = NULL;
  FAILS(HEED_ERROR_CANCELLED,
        heed_chat(model, messages, NULL, &generate, on_answer, &stream, &result, &last_error));
  /* What was said until then is there. */
  OK(heed_chat_result_answer(result, &answer, &last_error));
  CHECK(answer.content.size > 0 && is_text(answer.content, stream.text));
  OK(heed_chat_result_generation(result, &generation, &last_error));
  CHECK(generation.token_count == 0);
  OK(heed_chat_result_free(result, &last_error));
  result = NULL;
  OK(heed_chat_options_init(&options));
  options.tools = "no JSON";
  FAILS(HEED_ERROR_FAILED,
        heed_chat(model, messages, &options, &generate, NULL, NULL, &result, &last_error));
  options.tools = "[{\"type\": \"function\", \"function\": {\"name\": \"add\"}}]";
  options.chat_template = "[TOOL_CALLS]{{ tools[0].function.name }}";
  OK(heed_chat(model, messages, &options, &generate, NULL, NULL, &result, &last_error));
  OK(heed_chat_result_free(result, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_chat(model, heed_string_of("[{\"role\": 3}]"), NULL, NULL, NULL,
                                     NULL, &result, &last_error));
  CHECK(result == NULL);
  test_chat_messages(model);
  OK(heed_model_free(model, &last_error));
  return failures;
}
