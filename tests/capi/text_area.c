/* Tokenizers and chat templates. Expected tokens and offsets are those of tests/golden/tokenizers:
   expected.json, encodings.json and offsets.json. */
#include "tests/capi/areas.h"
#include "tests/capi/check.h"

#define FACADE \
  "fa\xc3\xa7" \
  "ade"

static heed_tokenizer* load(const struct test_paths* paths, const char* name) {
  heed_tokenizer* tokenizer = NULL;
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", paths->tokenizers, name);
  OK(heed_tokenizer_load(path, &tokenizer, &last_error));
  return tokenizer;
}

static int are_tokens(const int32_t* tokens, size_t count, const int32_t* expected,
                      size_t expected_count) {
  return count == expected_count && memcmp(tokens, expected, count * sizeof(int32_t)) == 0;
}

#define ARE(tokens, count, expected) \
  are_tokens(tokens, count, expected, sizeof(expected) / sizeof(int32_t))

int test_tokenizer(const struct test_paths* paths) {
  heed_tokenizer *bert, *qwen;
  heed_tokenizer_facts facts;
  heed_added_token added;
  heed_string token;
  int32_t id = 7, special = 7;
  failures = 0;
  facts.struct_size = sizeof(facts);
  added.struct_size = sizeof(added);
  bert = load(paths, "bert_uncased.json");
  OK(heed_tokenizer_get_facts(bert, &facts, &last_error));
  CHECK(facts.pad == 0 && facts.unk == 1 && facts.cls == 2 && facts.sep == 3 && facts.mask == 4);
  CHECK(facts.vocab_size > 500 && facts.added_token_count == 5);
  OK(heed_tokenizer_added_token(bert, 4, &added, &last_error));
  CHECK(added.id == 4 && added.special && is_text(added.content, "[MASK]"));
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_tokenizer_added_token(bert, 5, &added, &last_error));
  OK(heed_tokenizer_token(bert, 2, &token, &last_error));
  CHECK(is_text(token, "[CLS]"));
  FAILS(HEED_ERROR_FAILED, heed_tokenizer_token(bert, 1 << 30, &token, &last_error));
  OK(heed_tokenizer_token_id(bert, heed_string_of("[SEP]"), &id, &last_error));
  CHECK(id == 3);
  OK(heed_tokenizer_token_id(bert, heed_string_of("no such token"), &id, &last_error));
  CHECK(id == -1);
  OK(heed_tokenizer_is_special(bert, 3, &special, &last_error));
  CHECK(special == 1);
  OK(heed_tokenizer_is_special(bert, 60, &special, &last_error));
  CHECK(special == 0);

  qwen = load(paths, "qwen2.json");
  OK(heed_tokenizer_get_facts(qwen, &facts, &last_error));
  CHECK(facts.cls == -1 && facts.mask == -1 && facts.added_token_count == 3);
  OK(heed_tokenizer_free(bert, &last_error));
  OK(heed_tokenizer_free(qwen, &last_error));
  FAILS(HEED_ERROR_INVALID_HANDLE, heed_tokenizer_free(qwen, &last_error));
  FAILS(HEED_ERROR_INVALID_HANDLE, heed_tokenizer_get_facts(qwen, &facts, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_tokenizer_load(paths->out, &qwen, &last_error));
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_tokenizer_load(NULL, &qwen, &last_error));
  return failures;
}

static void test_ids(const struct test_paths* paths) {
  static const int32_t of_qwen[] = {72, 67, 130, 642, 441};
  static const int32_t of_roberta[] = {0, 74, 69, 132, 654, 442, 2};
  static const int32_t of_t5[] = {144, 14, 305, 206};
  int32_t tokens[8];
  size_t count = 0;
  heed_tokenizer* tokenizer = load(paths, "qwen2.json");
  OK(heed_tokenizer_encode(tokenizer, heed_string_of(FACADE), 1, tokens, 8, &count, &last_error));
  CHECK(ARE(tokens, count, of_qwen));
  FAILS(HEED_ERROR_BUFFER_TOO_SMALL, heed_tokenizer_encode(tokenizer, heed_string_of(FACADE), 1,
                                                           tokens, 4, &count, &last_error));
  CHECK(count == 5);
  OK(heed_tokenizer_free(tokenizer, &last_error));
  tokenizer = load(paths, "roberta.json");
  OK(heed_tokenizer_encode(tokenizer, heed_string_of(FACADE), 1, tokens, 8, &count, &last_error));
  CHECK(ARE(tokens, count, of_roberta));
  OK(heed_tokenizer_encode(tokenizer, heed_string_of(FACADE), 0, tokens, 8, &count, &last_error));
  CHECK(count == 5 && tokens[0] == 74);
  OK(heed_tokenizer_free(tokenizer, &last_error));
  tokenizer = load(paths, "t5.model");
  OK(heed_tokenizer_encode(tokenizer, heed_string_of(FACADE), 1, tokens, 8, &count, &last_error));
  CHECK(ARE(tokens, count, of_t5));
  OK(heed_tokenizer_free(tokenizer, &last_error));
}

static void test_pair(heed_tokenizer* roberta) {
  static const int32_t ids[] = {0, 446, 446, 2, 2, 265, 252, 229, 2};
  static const int32_t sequences[] = {-1, 0, 0, -1, -1, 1, 1, 1, -1};
  static const size_t bytes[] = {0, 0, 0, 3, 3, 6, 0, 0, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0};
  static const size_t code_points[] = {0, 0, 0, 1, 1, 2, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0};
  const heed_string first = heed_string_of("\xe4\xba\xba\xe4\xba\xba ");
  const heed_string second = heed_string_of("\xf0\x9f\x99\x82 Two  three four");
  heed_encode_options options;
  heed_encode_result* result = NULL;
  heed_encoding encoding;
  size_t count = 0;
  int unit;
  encoding.struct_size = sizeof(encoding);
  OK(heed_encode_options_init(&options));
  options.max_tokens = 9;
  for (unit = HEED_OFFSETS_BYTES; unit <= HEED_OFFSETS_CODE_POINTS; ++unit) {
    const size_t* expected = unit == HEED_OFFSETS_BYTES ? bytes : code_points;
    options.offsets = unit;
    OK(heed_tokenizer_encode_pair(roberta, first, second, &options, &result, &last_error));
    OK(heed_encode_result_count(result, &count, &last_error));
    CHECK(count == 1);
    OK(heed_encode_result_get(result, 0, &encoding, &last_error));
    CHECK(ARE(encoding.tokens, encoding.token_count, ids));
    CHECK(memcmp(encoding.sequence_ids, sequences, sizeof(sequences)) == 0);
    CHECK(memcmp(encoding.offsets, expected, sizeof(bytes)) == 0);
    CHECK(encoding.type_ids[8] == 0);
    OK(heed_encode_result_free(result, &last_error));
  }
  options.offsets = 2;
  FAILS(HEED_ERROR_INVALID_ARGUMENT,
        heed_tokenizer_encode_pair(roberta, first, second, &options, &result, &last_error));
  FAILS(HEED_ERROR_INVALID_HANDLE, heed_encode_result_count(result, &count, &last_error));
}

static void test_batch(heed_tokenizer* roberta) {
  static const int32_t first[] = {0, 74, 69, 132, 654, 442, 2};
  static const int32_t second[] = {0, 62, 27, 18, 92, 2};
  heed_string texts[2];
  heed_executor* executor = NULL;
  heed_encode_result* result = NULL;
  heed_encoding encoding;
  size_t count = 0;
  texts[0] = heed_string_of(FACADE);
  texts[1] = heed_string_of("Z7.x");
  encoding.struct_size = sizeof(encoding);
  OK(heed_executor_create(2, &executor, &last_error));
  OK(heed_tokenizer_encode_batch(roberta, texts, 2, 1, executor, &result, &last_error));
  OK(heed_encode_result_count(result, &count, &last_error));
  CHECK(count == 2);
  OK(heed_encode_result_get(result, 1, &encoding, &last_error));
  CHECK(ARE(encoding.tokens, encoding.token_count, second) && encoding.offsets == NULL);
  OK(heed_encode_result_free(result, &last_error));

  OK(heed_tokenizer_encode_batch_with_offsets(roberta, texts, 2, NULL, executor, &result,
                                              &last_error));
  OK(heed_encode_result_get(result, 0, &encoding, &last_error));
  CHECK(ARE(encoding.tokens, encoding.token_count, first));
  CHECK(encoding.offsets[1].begin == 0 && encoding.offsets[5].end == strlen(FACADE));
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_encode_result_get(result, 2, &encoding, &last_error));
  OK(heed_encode_result_free(result, &last_error));
  OK(heed_executor_free(executor, &last_error));
  FAILS(HEED_ERROR_INVALID_HANDLE,
        heed_tokenizer_encode_batch(roberta, texts, 2, 1, executor, &result, &last_error));
  OK(heed_tokenizer_encode_batch(roberta, NULL, 0, 1, NULL, &result, &last_error));
  OK(heed_encode_result_free(result, &last_error));
}

int test_encode(const struct test_paths* paths) {
  static const size_t ends[] = {1, 2, 3, 5, 6, 8, 9, 10, 11, 12};
  heed_tokenizer* tokenizer;
  heed_encode_options options;
  heed_encode_result* result = NULL;
  heed_encoding encoding;
  size_t i;
  failures = 0;
  encoding.struct_size = sizeof(encoding);
  test_ids(paths);
  tokenizer = load(paths, "roberta.json");
  test_pair(tokenizer);
  test_batch(tokenizer);
  OK(heed_tokenizer_free(tokenizer, &last_error));

  tokenizer = load(paths, "bert_uncased.json");
  OK(heed_encode_options_init(&options));
  options.special = 0;
  options.max_tokens = 10;
  OK(heed_tokenizer_encode_with_offsets(tokenizer,
                                        heed_string_of("Ada Lovelace met  Babbage, in London."),
                                        &options, &result, &last_error));
  OK(heed_tokenizer_free(tokenizer, &last_error));
  OK(heed_encode_result_get(result, 0, &encoding, &last_error));
  CHECK(encoding.token_count == 10);
  for (i = 0; i < encoding.token_count; ++i) CHECK(encoding.offsets[i].end == ends[i]);
  OK(heed_encode_result_free(result, &last_error));
  return failures;
}

int test_decode(const struct test_paths* paths) {
  static const int32_t tokens[] = {1, 72, 67, 130, 642, 441};
  heed_tokenizer* tokenizer;
  heed_decode_stream* stream = NULL;
  heed_string part;
  char text[64], joined[64];
  size_t size = 0, length = 0, i;
  failures = 0;
  tokenizer = load(paths, "qwen2.json");
  OK(heed_tokenizer_decode(tokenizer, tokens, 6, 1, text, sizeof(text), &size, &last_error));
  CHECK(size == 7 && strcmp(text, FACADE) == 0);
  OK(heed_tokenizer_decode(tokenizer, tokens, 6, 0, text, sizeof(text), &size, &last_error));
  CHECK(strcmp(text, "<|im_start|>" FACADE) == 0 && strlen(text) == size);
  FAILS(HEED_ERROR_BUFFER_TOO_SMALL,
        heed_tokenizer_decode(tokenizer, tokens, 6, 1, text, 7, &size, &last_error));
  CHECK(size == 7);

  OK(heed_decode_stream_create(tokenizer, 1, &stream, &last_error));
  OK(heed_tokenizer_free(tokenizer, &last_error)); /* the stream keeps it */
  for (i = 0; i < 7; ++i) {
    if (i < 6)
      OK(heed_decode_stream_feed(stream, tokens[i], &part, &last_error));
    else
      OK(heed_decode_stream_finish(stream, &part, &last_error));
    CHECK(part.data[part.size] == '\0' && (i > 0 || part.size == 0));
    memcpy(joined + length, part.data, part.size);
    length += part.size;
  }
  CHECK(length == 7 && memcmp(joined, FACADE, 7) == 0);
  FAILS(HEED_ERROR_INVALID_ARGUMENT, heed_decode_stream_feed(stream, 1, NULL, &last_error));
  OK(heed_decode_stream_free(stream, &last_error));
  FAILS(HEED_ERROR_INVALID_HANDLE, heed_decode_stream_finish(stream, &part, &last_error));
  return failures;
}

int test_train_tokenizer(const struct test_paths* paths) {
  static const char* sentences[] = {"the old man and the sea", "the sea and the old ship",
                                    "an old man went out in the old ship"};
  const heed_string end = heed_string_of("<end>");
  heed_string texts[3];
  heed_tokenizer *tokenizer = NULL, *again = NULL;
  heed_train_tokenizer_options options;
  heed_tokenizer_facts facts;
  int32_t tokens[32], tokens_again[32];
  char path[512];
  size_t count = 0, count_again = 0, i;
  failures = 0;
  facts.struct_size = sizeof(facts);
  for (i = 0; i < 3; ++i) texts[i] = heed_string_of(sentences[i]);
  OK(heed_train_tokenizer_options_init(&options));
  CHECK(options.special_token_count == 1 && is_text(options.special_tokens[0], "<|endoftext|>"));
  options.vocab_size = 270;
  options.special_tokens = &end;
  OK(heed_tokenizer_train(texts, 3, &options, &tokenizer, &last_error));
  OK(heed_tokenizer_get_facts(tokenizer, &facts, &last_error));
  CHECK(facts.vocab_size == 270 && facts.added_token_count == 1);
  snprintf(path, sizeof(path), "%s/learned", paths->out);
  OK(heed_tokenizer_save(tokenizer, path, &last_error));
  OK(heed_tokenizer_load(path, &again, &last_error));
  OK(heed_tokenizer_encode(tokenizer, texts[2], 1, tokens, 32, &count, &last_error));
  OK(heed_tokenizer_encode(again, texts[2], 1, tokens_again, 32, &count_again, &last_error));
  CHECK(count < texts[2].size && are_tokens(tokens, count, tokens_again, count_again));
  OK(heed_tokenizer_free(tokenizer, &last_error));
  OK(heed_tokenizer_free(again, &last_error));

  options.kind = HEED_TOKENIZER_UNIGRAM;
  options.vocab_size = 30;
  OK(heed_tokenizer_train(texts, 3, &options, &tokenizer, &last_error));
  OK(heed_tokenizer_free(tokenizer, &last_error));
  options.kind = 3;
  FAILS(HEED_ERROR_INVALID_ARGUMENT,
        heed_tokenizer_train(texts, 3, &options, &tokenizer, &last_error));
  options.kind = HEED_DEFAULT;
  FAILS(HEED_ERROR_INVALID_ARGUMENT,
        heed_tokenizer_train(texts, 3, &options, &tokenizer, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_tokenizer_train(NULL, 0, NULL, &tokenizer, &last_error));
  CHECK(tokenizer == NULL);
  return failures;
}

static const char chatml[] =
    "{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/* The prompt of the next turn begins with the tokens of the last one and its answer. */
static void test_next_turn(heed_chat_template* chat_template, const heed_chat_prompt* first) {
  static const int32_t answer = 75; /* "i" */
  heed_chat_prompt earlier, second;
  heed_chat_prompt_result* result = NULL;
  char text[256];
  int32_t tokens[128];
  second.struct_size = sizeof(second);
  earlier = *first;
  snprintf(text, sizeof(text), "%si", first->text.data);
  memcpy(tokens, first->tokens, first->token_count * sizeof(int32_t));
  tokens[first->token_count] = answer;
  earlier.text = heed_string_of(text);
  earlier.tokens = tokens;
  ++earlier.token_count;
  OK(heed_chat_template_prompt(
      chat_template,
      heed_string_of("[{\"role\": \"user\", \"content\": \"Z7.x\"}, {\"role\": \"assistant\", "
                     "\"content\": \"i\"}, {\"role\": \"user\", \"content\": \"x\"}]"),
      NULL, &earlier, &result, &last_error));
  OK(heed_chat_prompt_result_get(result, &second, &last_error));
  CHECK(second.token_count > earlier.token_count &&
        are_tokens(second.tokens, earlier.token_count, earlier.tokens, earlier.token_count));
  OK(heed_chat_prompt_result_free(result, &last_error));
}

int test_chat_template(const struct test_paths* paths) {
  static const char user[] = "[{\"role\": \"user\", \"content\": \"Z7.x\"}]";
  heed_tokenizer *tokenizer, *own = NULL;
  heed_chat_template* chat_template = NULL;
  heed_chat_prompt_options options;
  heed_chat_prompt_result* result = NULL;
  heed_chat_prompt prompt;
  failures = 0;
  prompt.struct_size = sizeof(prompt);
  tokenizer = load(paths, "qwen2.json");
  OK(heed_chat_template_parse(heed_string_of(chatml), tokenizer, &chat_template, &last_error));
  OK(heed_chat_template_prompt(chat_template, heed_string_of(user), NULL, NULL, &result,
                               &last_error));
  OK(heed_chat_prompt_result_get(result, &prompt, &last_error));
  CHECK(is_text(prompt.text, "<|im_start|>user\nZ7.x<|im_end|>\n<|im_start|>assistant\n"));
  CHECK(prompt.token_count > 8 && prompt.tokens[0] == 1);
  CHECK(prompt.end_token_count == 1 && prompt.end_tokens[0] == 2);
  test_next_turn(chat_template, &prompt);
  OK(heed_chat_prompt_result_free(result, &last_error));

  OK(heed_chat_prompt_options_init(&options));
  CHECK(options.add_generation_prompt == 1 && options.control_tokens_in_messages == 0);
  options.add_generation_prompt = 0;
  options.chat_template = "{{ messages[0].content ~ mood }}";
  options.chat_template_kwargs = "{\"mood\": \"!\"}";
  OK(heed_chat_template_prompt(chat_template, heed_string_of(user), &options, NULL, &result,
                               &last_error));
  OK(heed_chat_prompt_result_get(result, &prompt, &last_error));
  CHECK(is_text(prompt.text, "Z7.x!"));
  OK(heed_chat_prompt_result_free(result, &last_error));
  options.tools = "no JSON";
  FAILS(HEED_ERROR_FAILED, heed_chat_template_prompt(chat_template, heed_string_of(user), &options,
                                                     NULL, &result, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_chat_template_prompt(chat_template, heed_string_of("[]"), NULL,
                                                     NULL, &result, &last_error));
  OK(heed_chat_template_tokenizer(chat_template, &own, &last_error));
  CHECK(own != NULL && own != tokenizer);
  OK(heed_tokenizer_free(own, &last_error));
  OK(heed_chat_template_free(chat_template, &last_error));
  FAILS(HEED_ERROR_FAILED,
        heed_chat_template_parse(heed_string_of("{% if"), tokenizer, &chat_template, &last_error));

  OK(heed_chat_template_load(paths->chat, tokenizer, &chat_template, &last_error));
  OK(heed_chat_template_free(chat_template, &last_error));
  OK(heed_chat_template_load(paths->chat, NULL, &chat_template, &last_error));
  OK(heed_chat_template_free(chat_template, &last_error));
  OK(heed_tokenizer_free(tokenizer, &last_error));
  FAILS(HEED_ERROR_INVALID_HANDLE,
        heed_chat_template_load(paths->chat, tokenizer, &chat_template, &last_error));
  FAILS(HEED_ERROR_FAILED, heed_chat_template_load(paths->out, NULL, &chat_template, &last_error));
  return failures;
}
