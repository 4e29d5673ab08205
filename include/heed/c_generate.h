#pragma once

/* Generation, search, translation, chat. */

#include "heed/c_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of heed_generate(): a heed_generation for each prompt. Pointers in the structs that are filled
   from a result are valid until it is freed. */
typedef struct heed_generate_result heed_generate_result;
/* Of heed_translate() and heed_search(): heed_candidates for each input. */
typedef struct heed_search_result heed_search_result;
/* Of heed_chat(): an answer, and how it was generated. */
typedef struct heed_chat_result heed_chat_result;

/* A text, or if text.data is NULL token ids. */
typedef struct heed_prompt {
  heed_string text;      /* gets the special tokens that belong around it */
  const int32_t* tokens; /* token ids, if text.data is NULL */
  size_t token_count;
} heed_prompt;

/* A number added to the logit of a token. */
typedef struct heed_token_bias {
  int32_t token; /* a token id */
  float bias;    /* added to the logit; minus infinity forbids the token */
} heed_token_bias;

/* Which white space stands between the tokens of a JSON text: any, at most 64 characters at each
   place; none; one space behind "," and ":". */
enum { HEED_JSON_SPACE_FREE = 0, HEED_JSON_SPACE_COMPACT = 1, HEED_JSON_SPACE_SPACED = 2 };

/* As heed::StructuredOutput: what the text of an output must match. At most one of json_schema,
   regex, gbnf, lark and choice is given. */
typedef struct heed_structured_output {
  size_t struct_size;
  const char* json_schema;   /* a JSON Schema; NULL: none */
  const char* regex;         /* of ECMA-262, which matches the whole text; NULL: none */
  const char* gbnf;          /* a grammar as llama.cpp has it; NULL: none */
  const char* lark;          /* a grammar of the Python package Lark; NULL: none */
  const heed_string* choice; /* one of these; NULL: any text */
  size_t choice_count;
  int32_t json_white_space;       /* HEED_JSON_SPACE_, with json_schema */
  int32_t complete;               /* completed within max_new_tokens, by the shortest valid text */
  int32_t free_log_probabilities; /* over all tokens, not over those allowed */
  int32_t reserved;               /* 0 */
} heed_structured_output;

HEED_EXPORT heed_status heed_structured_output_init_sized(heed_structured_output* options,
                                                          size_t size, heed_error* error);
static inline heed_status heed_structured_output_init(heed_structured_output* options) {
  return heed_structured_output_init_sized(options, sizeof(heed_structured_output), NULL);
}

/* As heed::GenerateOptions. Numbers that are HEED_DEFAULT or NaN come from the model's files. */
typedef struct heed_generate_options {
  size_t struct_size;
  int64_t max_new_tokens;                    /* or HEED_DEFAULT */
  float repetition_penalty;                  /* or NaN */
  float presence_penalty, frequency_penalty; /* 0: off */
  int32_t sample;                            /* else greedy, unless one of the next four is set */
  float temperature;                         /* or NaN */
  float top_p;                               /* or NaN */
  float min_p;                               /* or NaN */
  int32_t skip_special_tokens;               /* whether the text of an output is without them */
  int64_t top_k;                             /* or HEED_DEFAULT */
  uint64_t seed;                             /* of random numbers */
  const heed_token_bias* logit_bias;         /* before sampling; NULL: none */
  size_t logit_bias_count;
  const heed_string* stop; /* strings that end an output */
  size_t stop_count;
  const int32_t* end_tokens; /* end an output, besides those of the model */
  size_t end_token_count;
  int32_t top_log_probabilities; /* of each token; -1: none */
  int32_t reserved;              /* 0 */
  int64_t batch_tokens;          /* largest number of tokens of a batch; does not change results */
  int64_t first_number; /* of the first prompt: selects random numbers, and names it in errors */
  const heed_structured_output* structured_output; /* what outputs must match; NULL: nothing */
  int64_t min_new_tokens; /* before which no token ends an output; or HEED_DEFAULT */
} heed_generate_options;

HEED_EXPORT heed_status heed_generate_options_init_sized(heed_generate_options* options,
                                                         size_t size, heed_error* error);
static inline heed_status heed_generate_options_init(heed_generate_options* options) {
  return heed_generate_options_init_sized(options, sizeof(heed_generate_options), NULL);
}

/* Receives a part of an output: whole code points, valid during the call. Non-zero ends the
   generation with HEED_ERROR_CANCELLED. */
typedef int (*heed_on_text)(void* user_data, heed_string text);

/* The outputs that follow prompts, in batches. */
HEED_EXPORT heed_status heed_generate(heed_model* model, const heed_prompt* prompts, size_t count,
                                      const heed_generate_options* options,
                                      heed_generate_result** result, heed_error* error);
/* The output that follows one prompt, told while it is generated. `on_text` may be NULL. */
HEED_EXPORT heed_status heed_generate_stream(heed_model* model, const heed_prompt* prompt,
                                             const heed_generate_options* options,
                                             heed_on_text on_text, void* user_data,
                                             heed_generate_result** result, heed_error* error);

/* Why an output ended: an end token or a stop string; max_new_tokens or a full context. */
enum { HEED_FINISH_STOP = 0, HEED_FINISH_LENGTH = 1 };

/* A token and its log-probability under the model, before penalties, biases and temperature. */
typedef struct heed_token_log_probability {
  int32_t token;          /* a token id */
  double log_probability; /* natural */
} heed_token_log_probability;

/* One output. */
typedef struct heed_generation {
  size_t struct_size;
  heed_string text;      /* the output */
  const int32_t* tokens; /* its token ids, without the end token */
  size_t token_count;
  int32_t finish_reason;                   /* HEED_FINISH_ */
  heed_string stop_string;                 /* the one that ended it; data is NULL if none did */
  int64_t drafted_tokens, accepted_tokens; /* of speculation: drafted, and right */
  /* With top_log_probabilities, for each token; else NULL. The best of token t are best[i] for
     best_offsets[t] <= i < best_offsets[t + 1], most probable first. */
  const heed_token_log_probability* chosen;
  const heed_token_log_probability* best; /* of all tokens */
  const size_t* best_offsets;             /* token_count + 1 of them */
} heed_generation;

/* The number of outputs, which is that of the prompts. */
HEED_EXPORT heed_status heed_generate_result_count(heed_generate_result* result, size_t* count,
                                                   heed_error* error);
/* Output `index`, from 0. HEED_ERROR_INVALID_ARGUMENT beyond the last. */
HEED_EXPORT heed_status heed_generate_result_get(heed_generate_result* result, size_t index,
                                                 heed_generation* generation, heed_error* error);
HEED_EXPORT heed_status heed_generate_result_free(heed_generate_result* result, heed_error* error);

/* As heed::SearchOptions. */
typedef struct heed_search_options {
  size_t struct_size;
  int32_t num_beams, n_best; /* hypotheses kept, 1 to 256, and returned */
  float length_penalty;      /* alpha of Wu et al. 2016, equation 14 */
  int32_t scores;            /* whether greedy search computes them */
  int64_t max_new_tokens;    /* of a translation; HEED_DEFAULT: that of its source plus the next */
  int64_t max_new_tokens_over_source; /* tokens */
} heed_search_options;

/* As heed::GlossaryTerm. */
typedef struct heed_glossary_term {
  heed_string source;         /* the term in a text to translate */
  const heed_string* targets; /* alternatives */
  size_t target_count;
  int32_t match_case; /* 0: upper and lower case do not count */
  int32_t reserved;   /* 0 */
} heed_glossary_term;

/* As heed::TranslateOptions. */
typedef struct heed_translate_options {
  size_t struct_size;
  const heed_search_options* search;  /* NULL: beam search with 4 beams */
  const char* source_language;        /* of a multilingual model; NULL: that of its files */
  const char* target_language;        /* likewise */
  int32_t alignments;                 /* whether to compute heed_candidate.alignment */
  int32_t reserved;                   /* 0 */
  int64_t batch_tokens;               /* 0: chosen for speed */
  int64_t first_number;               /* of the first line, in errors */
  const char* via;                    /* translate into this language first; NULL: not */
  heed_model* then;                   /* the model of a second step; NULL: none, or the same */
  int32_t confidence;                 /* whether to compute heed_confidence */
  int32_t reserved_behind;            /* 0 */
  const heed_glossary_term* glossary; /* how terms must be translated; NULL: none */
  size_t glossary_count;
  const heed_string* do_not_translate; /* terms that stay as they are; NULL: none */
  size_t do_not_translate_count;
} heed_translate_options;

HEED_EXPORT heed_status heed_search_options_init_sized(heed_search_options* options, size_t size,
                                                       heed_error* error);
HEED_EXPORT heed_status heed_translate_options_init_sized(heed_translate_options* options,
                                                          size_t size, heed_error* error);
static inline heed_status heed_search_options_init(heed_search_options* options) {
  return heed_search_options_init_sized(options, sizeof(heed_search_options), NULL);
}
static inline heed_status heed_translate_options_init(heed_translate_options* options) {
  return heed_translate_options_init_sized(options, sizeof(heed_translate_options), NULL);
}

/* Translates lines of text. */
HEED_EXPORT heed_status heed_translate(heed_model* model, const heed_string* lines, size_t count,
                                       const heed_translate_options* options,
                                       heed_search_result** result, heed_error* error);

/* As heed::DocumentOptions. */
typedef struct heed_document_options {
  size_t struct_size;
  const heed_translate_options* translate; /* NULL: the defaults; its first_number does not count */
  const char* format;                      /* "text", "html", "xml", ...; NULL: text */
  const char* sentence_language;           /* whose abbreviations do not end sentences */
  int64_t max_sentence_tokens;             /* 0: the longest of the training, or 128 */
  int32_t translate_placeholders;          /* whether URLs and the like are translated */
  int32_t keep_numbers;                    /* whether numbers stay unchanged */
} heed_document_options;

HEED_EXPORT heed_status heed_document_options_init_sized(heed_document_options* options,
                                                         size_t size, heed_error* error);
static inline heed_status heed_document_options_init(heed_document_options* options) {
  return heed_document_options_init_sized(options, sizeof(heed_document_options), NULL);
}

/* Told how many of the sentences of a document are translated. Non-zero ends the call with
   HEED_ERROR_CANCELLED. */
typedef int (*heed_on_sentences)(void* user_data, int64_t done, int64_t all);

/* The translation of a document. */
typedef struct heed_document_result heed_document_result;

/* Translates a document, sentence by sentence. `on_sentences` may be NULL. */
HEED_EXPORT heed_status heed_translate_document(heed_model* model, heed_string document,
                                                const heed_document_options* options,
                                                heed_on_sentences on_sentences, void* user_data,
                                                heed_document_result** result, heed_error* error);
/* The translated document, valid until the result is freed. */
HEED_EXPORT heed_status heed_document_result_text(heed_document_result* result, heed_string* text,
                                                  heed_error* error);
HEED_EXPORT heed_status heed_document_result_free(heed_document_result* result, heed_error* error);

/* The n_best outputs of each prompt by greedy or beam search. Of `limits`, max_new_tokens,
   batch_tokens and first_number count. */
HEED_EXPORT heed_status heed_search(heed_model* model, const heed_prompt* prompts, size_t count,
                                    const heed_search_options* options,
                                    const heed_generate_options* limits,
                                    heed_search_result** result, heed_error* error);

/* Words, counted from 0. */
typedef struct heed_aligned_words {
  int32_t source, target; /* counted from 0 */
} heed_aligned_words;

/* A word of a translation and the probability that it is right. */
typedef struct heed_word_confidence {
  heed_string text;  /* as it stands in the translation */
  double confidence; /* 0 to 1 */
} heed_word_confidence;

/* One output of a search. */
typedef struct heed_candidate {
  size_t struct_size;
  heed_string text;      /* the output */
  const int32_t* tokens; /* its token ids, without the end token */
  size_t token_count;
  double log_probability;              /* natural */
  double score;                        /* log_probability / length penalty */
  const heed_aligned_words* alignment; /* with heed_translate_options.alignments */
  size_t alignment_count;
} heed_candidate;

/* How probably a candidate is right, with heed_translate_options.confidence. */
typedef struct heed_confidence {
  double confidence;                 /* 0 to 1 */
  const heed_word_confidence* words; /* of the text, in order */
  size_t word_count;
} heed_confidence;

/* The number of inputs. */
HEED_EXPORT heed_status heed_search_result_count(heed_search_result* result, size_t* count,
                                                 heed_error* error);
/* The number of candidates of an input; 0 for an empty line. */
HEED_EXPORT heed_status heed_search_result_candidates(heed_search_result* result, size_t input,
                                                      size_t* count, heed_error* error);
/* Candidate `index` of an input, best first. */
HEED_EXPORT heed_status heed_search_result_get(heed_search_result* result, size_t input,
                                               size_t index, heed_candidate* candidate,
                                               heed_error* error);
/* The tokens of a line that was translated; none after heed_search(). */
HEED_EXPORT heed_status heed_search_result_source(heed_search_result* result, size_t input,
                                                  const int32_t** tokens, size_t* count,
                                                  heed_error* error);
/* The confidence of a candidate. HEED_ERROR_INVALID_ARGUMENT if it was not asked for. */
HEED_EXPORT heed_status heed_search_result_confidence(heed_search_result* result, size_t input,
                                                      size_t index, heed_confidence* confidence,
                                                      heed_error* error);
HEED_EXPORT heed_status heed_search_result_free(heed_search_result* result, heed_error* error);

/* As heed::ConfidenceReport. */
typedef struct heed_confidence_report {
  size_t struct_size;
  int64_t sentences, words;                                    /* of the translations */
  double kept_words, kept_sentences;                           /* what references keep */
  double word_error, sentence_error;                           /* expected calibration errors */
  double uncalibrated_word_error, uncalibrated_sentence_error; /* without the calibration */
} heed_confidence_report;

/* As heed::evaluate_confidence(): compares the confidences of translations of `count` held-out
   lines with references. */
HEED_EXPORT heed_status heed_evaluate_confidence(heed_model* model, const heed_string* sources,
                                                 const heed_string* references, size_t count,
                                                 const heed_translate_options* options,
                                                 heed_confidence_report* report, heed_error* error);
/* As heed::calibrate_confidence(): calibrates, and writes confidence.json into the directory of
   the model. */
HEED_EXPORT heed_status heed_calibrate_confidence(heed_model* model, const heed_string* sources,
                                                  const heed_string* references, size_t count,
                                                  const heed_translate_options* options,
                                                  heed_confidence_report* report,
                                                  heed_error* error);

/* As heed::ChatOptions. */
typedef struct heed_chat_options {
  size_t struct_size;
  const char* tools;                  /* a JSON array in OpenAI's form; NULL: none */
  const char* chat_template_kwargs;   /* a JSON object; NULL: none */
  const char* chat_template;          /* Jinja; NULL: the model's own */
  int32_t control_tokens_in_messages; /* whether contents of messages may hold them */
  int32_t reserved;                   /* 0 */
  const char* tool_choice;            /* as ChatOptions has it; NULL: auto */
  int32_t parallel_tool_calls;        /* an answer may have several calls */
  int32_t reserved_behind;            /* 0 */
} heed_chat_options;

HEED_EXPORT heed_status heed_chat_options_init_sized(heed_chat_options* options, size_t size,
                                                     heed_error* error);
static inline heed_status heed_chat_options_init(heed_chat_options* options) {
  return heed_chat_options_init_sized(options, sizeof(heed_chat_options), NULL);
}

/* A call of a function that a model asks for. */
typedef struct heed_tool_call {
  heed_string id, name;  /* of the call; of the function */
  heed_string arguments; /* a JSON object */
} heed_tool_call;

/* As heed::ChatMessage; what is not needed may be empty. */
typedef struct heed_chat_message {
  heed_string role, content;        /* "system", "user", "assistant" or "tool"; the text */
  heed_string reasoning_content;    /* what an assistant thought before its answer */
  const heed_tool_call* tool_calls; /* of an assistant */
  size_t tool_call_count;
  heed_string tool_call_id, name; /* of the result of a tool: the call and its function */
} heed_chat_message;

/* Writes messages as heed_chat() takes them, with a NUL behind, and their size without it. When
 * `capacity` is too small, `size` is set all the same. */
HEED_EXPORT heed_status heed_chat_messages(const heed_chat_message* messages, size_t count,
                                           char* buffer, size_t capacity, size_t* size,
                                           heed_error* error);

/* An answer, or a part of one. */
typedef struct heed_chat_answer {
  size_t struct_size;
  heed_string content, reasoning_content; /* the answer; what was thought before it */
  const heed_tool_call* tool_calls;       /* complete ones */
  size_t tool_call_count;
  int32_t malformed_tool_call; /* content has a call that cannot be read */
} heed_chat_answer;

/* Receives a part of an answer, valid during the call. Non-zero ends it with HEED_ERROR_CANCELLED.
 */
typedef int (*heed_on_answer)(void* user_data, const heed_chat_answer* part);

/* The answer to messages: a JSON array in OpenAI's form, which heed_chat_messages() writes, too.
 * `on_answer` may be NULL. When it ends the answer, `result` is set to what there is, whose
 * generation is empty, and is to be freed. */
HEED_EXPORT heed_status heed_chat(heed_model* model, heed_string messages,
                                  const heed_chat_options* options,
                                  const heed_generate_options* generate, heed_on_answer on_answer,
                                  void* user_data, heed_chat_result** result, heed_error* error);
/* The whole answer. */
HEED_EXPORT heed_status heed_chat_result_answer(heed_chat_result* result, heed_chat_answer* answer,
                                                heed_error* error);
/* How the answer was generated: its tokens, why it ended. */
HEED_EXPORT heed_status heed_chat_result_generation(heed_chat_result* result,
                                                    heed_generation* generation, heed_error* error);
HEED_EXPORT heed_status heed_chat_result_free(heed_chat_result* result, heed_error* error);

#ifdef __cplusplus
}
#endif
