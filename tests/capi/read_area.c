#include <math.h>
#include <string.h>

#include "tests/capi/areas.h"
#include "tests/capi/check.h"

static void test_embed(const struct test_paths* paths) {
  const heed_string texts[] = {{"the old sea", 11}, {"ship", 4}};
  heed_embed_options options;
  heed_model* model = NULL;
  float vectors[2 * 64];
  double length = 0;
  int i;
  OK(heed_model_load(paths->encoder, NULL, &model, &last_error));
  OK(heed_embed_options_init(&options));
  options.pooling = HEED_POOLING_CLS;
  options.normalize = 1;
  vectors[127] = 7;
  OK(heed_embed(model, texts, 2, &options, vectors, 128, &last_error));
  for (i = 0; i < 64; ++i) length += (double)vectors[i] * vectors[i];
  CHECK(fabs(length - 1) < 1e-5 && vectors[127] != 7);
  FAILS(HEED_ERROR_BUFFER_TOO_SMALL,
        heed_embed(model, texts, 2, &options, vectors, 127, &last_error));
  options.pooling = 17;
  FAILS(HEED_ERROR_INVALID_ARGUMENT,
        heed_embed(model, texts, 2, &options, vectors, 128, &last_error));
  OK(heed_model_free(model, &last_error));
}

/* A BERT for masked words is a SPLADE model. Any embedder has vectors of tokens, but only models
   for late interaction give them out. */
static void test_other_vectors(const struct test_paths* paths) {
  const heed_string texts[] = {{"the old sea", 11}, {"ship", 4}};
  heed_model* model = NULL;
  heed_sparse_result* sparse = NULL;
  heed_multi_vector_result* vectors = NULL;
  heed_sparse_embedding embedding;
  size_t count = 0, i;
  embedding.struct_size = sizeof(embedding);
  OK(heed_model_load(paths->masked, NULL, &model, &last_error));
  OK(heed_embed_sparse(model, texts, 2, NULL, &sparse, &last_error));
  OK(heed_sparse_result_count(sparse, &count, &last_error));
  OK(heed_sparse_result_get(sparse, 1, &embedding, &last_error));
  CHECK(count == 2 && embedding.count > 0);
  for (i = 0; i < embedding.count; ++i) CHECK(embedding.values[i] > 0);
  for (i = 1; i < embedding.count; ++i) CHECK(embedding.indices[i - 1] < embedding.indices[i]);
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_sparse_result_get(sparse, 2, &embedding, &last_error));
  OK(heed_sparse_result_free(sparse, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_embed_multi_vector(model, texts, 2, NULL, &vectors, &last_error));
  FAILS(HEED_ERROR_INVALID_HANDLE, heed_multi_vector_result_count(vectors, &count, &last_error));
  OK(heed_model_free(model, &last_error));
}

static void test_late_interaction(const struct test_paths* paths) {
  const heed_string texts[] = {{"the old sea", 11}, {"ship", 4}};
  heed_model* model = NULL;
  heed_multi_vector_result* vectors = NULL;
  heed_multi_vector_embedding embedding;
  size_t count = 0;
  double own = 0, other = 0;
  embedding.struct_size = sizeof(embedding);
  OK(heed_model_load(paths->colbert, NULL, &model, &last_error));
  OK(heed_embed_multi_vector(model, texts, 2, NULL, &vectors, &last_error));
  OK(heed_multi_vector_result_count(vectors, &count, &last_error));
  OK(heed_multi_vector_result_get(vectors, 0, &embedding, &last_error));
  CHECK(count == 2 && embedding.token_count > 2 && embedding.dimension > 0);
  CHECK(embedding.tokens != NULL && embedding.values != NULL);
  OK(heed_max_sim(vectors, 0, vectors, 0, &own, &last_error));
  OK(heed_max_sim(vectors, 0, vectors, 1, &other, &last_error));
  CHECK(fabs(own - (double)embedding.token_count) < 1e-4 && other < own);
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_max_sim(vectors, 0, vectors, 2, &own, &last_error));
  OK(heed_multi_vector_result_free(vectors, &last_error));
  OK(heed_model_free(model, &last_error));
}

static void test_score(const struct test_paths* paths) {
  heed_model* model = NULL;
  heed_score_result* result = NULL;
  heed_score_options options;
  heed_text_score score;
  score.struct_size = sizeof(score);
  OK(heed_model_load(paths->decoder, NULL, &model, &last_error));
  OK(heed_score_options_init(&options));
  options.window = 8;
  OK(heed_score(model, heed_string_of("the old sea"), &options, &result, &last_error));
  OK(heed_score_result_get(result, &score, &last_error));
  CHECK(score.log_probability_count + 1 == score.token_count && score.log_probability < 0);
  CHECK(fabs(log(score.perplexity) * (double)score.log_probability_count + score.log_probability) <
        1e-6);
  OK(heed_score_result_free(result, &last_error));
  FAILS(HEED_ERROR_FAILED,
        heed_score_pair(model, heed_string_of("a"), heed_string_of("b"), &result, &last_error));
  OK(heed_model_free(model, &last_error));
  OK(heed_model_load(paths->translator, NULL, &model, &last_error));
  OK(heed_score_pair(model, heed_string_of("the"), heed_string_of("sea"), &result, &last_error));
  OK(heed_score_result_get(result, &score, &last_error));
  CHECK(score.log_probability_count == score.token_count);
  OK(heed_score_result_free(result, &last_error));
  OK(heed_model_free(model, &last_error));
}

static void test_fill(const struct test_paths* paths) {
  heed_model* model = NULL;
  heed_fill_result* result = NULL;
  heed_filled_text text;
  heed_filled_mask mask;
  text.struct_size = sizeof(text);
  mask.struct_size = sizeof(mask);
  OK(heed_model_load(paths->masked, NULL, &model, &last_error));
  OK(heed_fill(model, heed_string_of("the [MASK] sea"), 3, &result, &last_error));
  OK(heed_fill_result_get(result, &text, &last_error));
  CHECK(text.token_count == 5 && text.mask_count == 1);
  OK(heed_fill_result_mask(result, 0, &mask, &last_error));
  CHECK(mask.position == 2 && mask.best_count == 3);
  CHECK(mask.best[0].probability >= mask.best[1].probability && mask.best[2].probability > 0);
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_fill_result_mask(result, 1, &mask, &last_error));
  OK(heed_fill_result_free(result, &last_error));
  OK(heed_model_free(model, &last_error));
}

static void test_attention(const struct test_paths* paths) {
  heed_model* model = NULL;
  heed_attention_result* result = NULL;
  heed_attention_options options;
  heed_attention_map map;
  size_t count = 0, k;
  float sum = 0;
  map.struct_size = sizeof(map);
  OK(heed_model_load(paths->encoder, NULL, &model, &last_error));
  OK(heed_attention(model, heed_string_of("the old sea"), NULL, &result, &last_error));
  OK(heed_attention_result_count(result, &count, &last_error));
  CHECK(count == 2);
  OK(heed_attention_result_get(result, 1, &map, &last_error));
  CHECK(map.kind == HEED_ATTENTION_ENCODER_SELF && map.layer == 1 && map.heads == 4);
  CHECK(map.query_count == 5 && map.key_count == 5 && is_text(map.keys[0], "[CLS]"));
  for (k = 0; k < map.key_count; ++k) sum += map.weights[k];
  CHECK(fabsf(sum - 1) < 1e-5f);
  OK(heed_attention_result_free(result, &last_error));
  OK(heed_attention_options_init(&options));
  options.layer = 0;
  options.head = 3;
  OK(heed_attention(model, heed_string_of("the old sea"), &options, &result, &last_error));
  OK(heed_attention_result_get(result, 0, &map, &last_error));
  CHECK(map.layer == 0 && map.first_head == 3 && map.heads == 1);
  OK(heed_attention_result_free(result, &last_error));
  options.layer = 9;
  FAILS(HEED_ERROR_FAILED,
        heed_attention(model, heed_string_of("the old sea"), &options, &result, &last_error));
  OK(heed_model_free(model, &last_error));
}

int test_read(const struct test_paths* paths) {
  failures = 0;
  test_embed(paths);
  test_other_vectors(paths);
  test_late_interaction(paths);
  test_score(paths);
  test_fill(paths);
  test_attention(paths);
  return failures;
}

static void test_entities(const struct test_paths* paths) {
  const heed_string text = heed_string_of("A cat sits");
  heed_model* model = NULL;
  heed_label_result* result = NULL;
  heed_labelled_text labelled;
  heed_entity entity;
  size_t count = 0;
  labelled.struct_size = sizeof(labelled);
  entity.struct_size = sizeof(entity);
  OK(heed_model_load(paths->ner, NULL, &model, &last_error));
  OK(heed_label_tokens(model, &text, 1, NULL, &result, &last_error));
  OK(heed_label_result_count(result, &count, &last_error));
  OK(heed_label_result_get(result, 0, &labelled, &last_error));
  CHECK(count == 1 && labelled.entity_count == 2);
  OK(heed_label_result_entity(result, 0, 0, &entity, &last_error));
  CHECK(is_text(entity.label, "PER") && is_text(entity.text, "A cat"));
  CHECK(entity.start == 0 && entity.end == 5 && fabs(entity.score - 0.4596) < 1e-3);
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_label_result_entity(result, 0, 2, &entity, &last_error));
  OK(heed_label_result_free(result, &last_error));
  OK(heed_model_free(model, &last_error));
}

static void test_languages(void) {
  const heed_string among[] = {{"de", 2}, {"en", 2}}, unknown[] = {{"xx", 2}};
  heed_detected_language found[2];
  size_t count = 7;
  OK(heed_detect_language(heed_string_of("Das ist ein kleines Haus."), NULL, 0, found, 1, &count,
                          &last_error));
  CHECK(count == 1 && strcmp(found[0].code, "de") == 0 && found[0].probability > 0.5);
  OK(heed_detect_language(heed_string_of("the house"), among, 2, found, 2, &count, &last_error));
  CHECK(count == 2 && strcmp(found[0].code, "en") == 0);
  CHECK(fabs(found[0].probability + found[1].probability - 1) < 1e-6);
  OK(heed_detect_language(heed_string_of("123"), NULL, 0, found, 2, &count, &last_error));
  CHECK(count == 0);
  FAILS(HEED_ERROR_FAILED,
        heed_detect_language(heed_string_of("sea"), unknown, 1, found, 2, &count, &last_error));
  FAILS(HEED_ERROR_INVALID_ARGUMENT,
        heed_detect_language(heed_string_of("sea"), NULL, 0, NULL, 2, &count, &last_error));
}

int test_labels(const struct test_paths* paths) {
  const heed_text_pair texts[] = {{{"A cat sits", 10}, {NULL, 0}},
                                  {{"The kitten", 10}, {"the fire", 8}}};
  const heed_string documents[] = {{"taxes", 5}, {"A cat sits on the warm stove.", 29}};
  heed_model* model = NULL;
  heed_classify_result* result = NULL;
  heed_label_score label;
  heed_ranked_document ranking[2];
  size_t count = 0, i;
  double sum = 0;
  failures = 0;
  label.struct_size = sizeof(label);
  OK(heed_model_load(paths->classify, NULL, &model, &last_error));
  OK(heed_classify(model, texts, 2, NULL, &result, &last_error));
  OK(heed_classify_result_count(result, &count, &last_error));
  CHECK(count == 2);
  OK(heed_classify_result_labels(result, 1, &count, &last_error));
  CHECK(count == 3);
  for (i = 0; i < count; ++i) {
    OK(heed_classify_result_get(result, 1, i, &label, &last_error));
    sum += label.score;
  }
  CHECK(fabs(sum - 1) < 1e-5 && label.label.size >= 3);
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_classify_result_get(result, 1, 3, &label, &last_error));
  OK(heed_classify_result_free(result, &last_error));
  OK(heed_model_free(model, &last_error));

  OK(heed_model_load(paths->rerank, NULL, &model, &last_error));
  OK(heed_rerank(model, heed_string_of("Where does the cat sit?"), documents, 2, NULL, ranking,
                 &last_error));
  CHECK(ranking[0].score >= ranking[1].score && ranking[0].index + ranking[1].index == 1);
  OK(heed_model_free(model, &last_error));
  test_languages();
  test_entities(paths);
  return failures;
}
