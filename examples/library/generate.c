#include <heed/c.h>
#include <stdio.h>

static int print(void* user_data, heed_string text) {
  (void)user_data;
  fwrite(text.data, 1, text.size, stdout);
  return fflush(stdout); /* anything but 0 ends the generation */
}

int main(int argc, char** argv) {
  heed_error error = HEED_ERROR_INIT;
  heed_model* model = NULL;
  heed_generate_result* result = NULL;
  const heed_prompt prompt = {heed_string_of("Once upon a time"), NULL, 0};
  if (argc != 2) return 2;
  if (heed_model_load(argv[1], NULL, &model, &error) != HEED_OK ||
      heed_generate_stream(model, &prompt, NULL, print, NULL, &result, &error) != HEED_OK)
    fprintf(stderr, "%s\n", error.message);
  heed_generate_result_free(result, NULL);
  heed_model_free(model, NULL);
  return error.status == HEED_OK ? 0 : 1;
}
