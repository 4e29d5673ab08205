#include <heed/c_text.h>
#include <stdio.h>

static void print(heed_encode_result* result) {
  heed_encoding encoding;
  size_t i;
  encoding.struct_size = sizeof(encoding);
  if (heed_encode_result_get(result, 0, &encoding, NULL) != HEED_OK) return;
  for (i = 0; i < encoding.token_count; ++i)
    printf("%s%d:%zu-%zu", i > 0 ? " " : "", (int)encoding.tokens[i], encoding.offsets[i].begin,
           encoding.offsets[i].end);
  putchar('\n');
}

int main(int argc, char** argv) {
  heed_error error = HEED_ERROR_INIT;
  heed_tokenizer* tokenizer = NULL;
  heed_encode_result* result = NULL;
  char line[65536];
  if (argc != 2) return 2;
  heed_tokenizer_load(argv[1], &tokenizer, &error);
  while (error.status == HEED_OK && fgets(line, sizeof(line), stdin)) {
    line[strcspn(line, "\n")] = '\0';
    heed_tokenizer_encode_with_offsets(tokenizer, heed_string_of(line), NULL, &result, &error);
    print(result);
    heed_encode_result_free(result, NULL);
  }
  if (error.status != HEED_OK) fprintf(stderr, "%s\n", error.message);
  heed_tokenizer_free(tokenizer, NULL);
  return error.status == HEED_OK ? 0 : 1;
}
