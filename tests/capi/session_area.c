#include "tests/capi/areas.h"
#include "tests/capi/check.h"

struct output {
  heed_session* session;
  char text[512];
  size_t size, aligned_words;
  int deltas, ended, cancel_after;
  heed_status step_inside;
};

static int on_delta(void* user_data, const heed_delta* delta) {
  struct output* output = user_data;
  int32_t left = 0;
  ++output->deltas;
  memcpy(output->text + output->size, delta->text.data, delta->text.size);
  output->size += delta->text.size;
  output->step_inside = heed_session_step(output->session, &left, NULL);
  if (delta->generation) {
    ++output->ended;
    CHECK(is_text(delta->generation->text, output->text));
  }
  if (delta->candidates) {
    ++output->ended;
    output->aligned_words = delta->candidates[0].alignment_count;
    CHECK(delta->candidate_count == 2 && delta->candidates[0].score >= delta->candidates[1].score);
  }
  return output->deltas == output->cancel_after;
}

static void step_to_the_end(heed_session* session) {
  int32_t left = 1;
  int steps = 0;
  while (left && steps++ < 200) OK(heed_session_step(session, &left, &last_error));
  CHECK(left == 0);
}

int test_session(const struct test_paths* paths) {
  heed_model* model = NULL;
  heed_session* session = NULL;
  heed_session_options options;
  heed_session_facts facts;
  heed_generate_options generate;
  heed_search_options search;
  heed_request request;
  struct output outputs[3];
  uint64_t ids[3];
  int i;
  failures = 0;
  memset(outputs, 0, sizeof(outputs));
  facts.struct_size = sizeof(facts);
  OK(heed_model_load(paths->decoder, NULL, &model, &last_error));
  OK(heed_session_options_init(&options));
  options.max_prefill_tokens = 2;
  OK(heed_session_create(model, &options, &session, &last_error));
  OK(heed_model_free(model, &last_error));
  OK(heed_generate_options_init(&generate));
  generate.max_new_tokens = 10;
  OK(heed_search_options_init(&search));
  search.num_beams = search.n_best = 2;
  OK(heed_request_init(&request));
  request.prompt.text = heed_string_of("the old sea");
  request.options = &generate;
  outputs[1].cancel_after = 2;
  for (i = 0; i < 3; ++i) {
    outputs[i].session = session;
    if (i == 2) request.search = &search;
    OK(heed_session_add(session, &request, on_delta, &outputs[i], &ids[i], &last_error));
  }
  CHECK(ids[0] != ids[1]);
  OK(heed_session_get_facts(session, &facts, &last_error));
  CHECK(facts.requests == 3 && facts.waiting_requests == 3);
  step_to_the_end(session);
  CHECK(outputs[0].ended == 1 && outputs[0].deltas >= 2);
  CHECK(outputs[0].step_inside == HEED_ERROR_BUSY);
  CHECK(outputs[1].ended == 0 && outputs[1].deltas == 2);
  CHECK(outputs[2].ended == 1 && outputs[2].deltas == 1);

  OK(heed_session_add(session, &request, on_delta, &outputs[2], &ids[2], &last_error));
  OK(heed_session_cancel(session, ids[2], &last_error));
  OK(heed_session_cancel(session, 12345, &last_error));
  step_to_the_end(session);
  CHECK(outputs[2].deltas == 1);
  OK(heed_session_clear_cached_tokens(session, &last_error));
  request.prompt.text = heed_string_of("\xff");
  FAILS(HEED_ERROR_FAILED,
        heed_session_add(session, &request, on_delta, &outputs[2], &ids[2], &last_error));
  OK(heed_session_close(session, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_session_step(session, &i, &last_error));
  OK(heed_session_free(session, &last_error));

  OK(heed_model_load(paths->translator, NULL, &model, &last_error));
  OK(heed_session_create(model, NULL, &session, &last_error));
  OK(heed_model_free(model, &last_error));
  request.prompt.text = heed_string_of("the old sea");
  for (i = 0; i < 2; ++i) {
    outputs[i].session = session;
    request.alignments = i;
    OK(heed_session_add(session, &request, on_delta, &outputs[i], &ids[i], &last_error));
  }
  step_to_the_end(session);
  CHECK(outputs[0].aligned_words == 0 && outputs[1].aligned_words > 0);
  OK(heed_session_free(session, &last_error));
  return failures;
}
