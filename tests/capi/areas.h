#pragma once

/* The parts of the C API's test that are written in C99. Each returns the number of checks that
   failed, which it prints. */

#ifdef __cplusplus
extern "C" {
#endif

/* Model directories, the tokenizers of tests/golden, and a directory for what is written. */
struct test_paths {
  const char *decoder, *encoder, *masked, *translator, *chat, *classify, *ner, *rerank, *colbert,
      *tokenizers, *out;
};

int test_model(const struct test_paths* paths);
int test_generate(const struct test_paths* paths);
int test_search(const struct test_paths* paths);
int test_document(const struct test_paths* paths);
int test_chat(const struct test_paths* paths);
int test_read(const struct test_paths* paths);
int test_labels(const struct test_paths* paths);
int test_session(const struct test_paths* paths);
int test_serve(const struct test_paths* paths);
int test_tokenizer(const struct test_paths* paths);
int test_encode(const struct test_paths* paths);
int test_decode(const struct test_paths* paths);
int test_train_tokenizer(const struct test_paths* paths);
int test_chat_template(const struct test_paths* paths);
int test_quantize(const struct test_paths* paths);
int test_train(const struct test_paths* paths);

#ifdef __cplusplus
}
#endif
