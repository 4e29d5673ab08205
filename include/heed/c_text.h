#pragma once

/* Tokenizers and chat templates without a model. libheed_text.so has these functions and those of
   c_base.h; libheed.so has them, too. A program links one of the two. */

#include "heed/c_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes ids of texts, and texts of ids. */
typedef struct heed_tokenizer heed_tokenizer;
/* Makes a text of ids that come one by one. */
typedef struct heed_decode_stream heed_decode_stream;
/* Makes prompts of messages. */
typedef struct heed_chat_template heed_chat_template;

/* Results. Pointers in the structs that are filled from one are valid until it is freed. */
typedef struct heed_encode_result heed_encode_result;
/* A prompt. */
typedef struct heed_chat_prompt_result heed_chat_prompt_result;

/* Reads the tokenizer of a Hugging Face model directory, a tokenizer.json, a SentencePiece model
   (.model, .spm) or a GGUF file. A tokenizer may be used by any number of threads. */
HEED_EXPORT heed_status heed_tokenizer_load(const char* path, heed_tokenizer** tokenizer,
                                            heed_error* error);
/* Writes its files into a directory, which is created if it does not exist. */
HEED_EXPORT heed_status heed_tokenizer_save(heed_tokenizer* tokenizer, const char* directory,
                                            heed_error* error);
/* Streams, chat templates and calls that run keep what they need. */
HEED_EXPORT heed_status heed_tokenizer_free(heed_tokenizer* tokenizer, heed_error* error);

enum {
  HEED_TOKENIZER_BYTE_LEVEL_BPE = 0, /* of bytes, saved as tokenizer.json */
  HEED_TOKENIZER_BPE = 1,            /* of characters, saved as a SentencePiece model */
  HEED_TOKENIZER_UNIGRAM = 2         /* saved as a SentencePiece model */
};

/* As heed::TrainTokenizerOptions. */
typedef struct heed_train_tokenizer_options {
  size_t struct_size;
  int32_t kind;       /* HEED_TOKENIZER_ */
  int32_t reserved;   /* 0 */
  int64_t vocab_size; /* tokens to learn, special ones included */
  /* Of HEED_TOKENIZER_BYTE_LEVEL_BPE: */
  int64_t min_frequency;             /* pairs that occur less often are not merged */
  const heed_string* special_tokens; /* get the first ids */
  size_t special_token_count;
  const char* pre_tokenizer; /* llama.cpp's name of the pattern that cuts text into words */
  /* Of the others: */
  double character_coverage; /* share of the text's characters that get a token */
} heed_train_tokenizer_options;

HEED_EXPORT heed_status heed_train_tokenizer_options_init_sized(
    heed_train_tokenizer_options* options, size_t size, heed_error* error);
static inline heed_status heed_train_tokenizer_options_init(heed_train_tokenizer_options* options) {
  return heed_train_tokenizer_options_init_sized(options, sizeof(heed_train_tokenizer_options),
                                                 NULL);
}

/* Learns a tokenizer from texts: lines, sentences or documents. `options` may be NULL, here and
   wherever there are options. */
HEED_EXPORT heed_status heed_tokenizer_train(const heed_string* texts, size_t count,
                                             const heed_train_tokenizer_options* options,
                                             heed_tokenizer** tokenizer, heed_error* error);

/* What a tokenizer is, and its special tokens by their role; -1: there is none. */
typedef struct heed_tokenizer_facts {
  size_t struct_size;
  int64_t vocab_size; /* the highest id plus one */
  size_t added_token_count;
  int32_t bos;      /* begins a sequence */
  int32_t eos;      /* ends it */
  int32_t pad;      /* fills it up */
  int32_t unk;      /* stands for what has no token */
  int32_t mask;     /* stands for a masked token */
  int32_t sep;      /* separates two texts */
  int32_t cls;      /* stands for the whole text */
  int32_t reserved; /* 0 */
} heed_tokenizer_facts;

/* The caller sets facts->struct_size, as in all structs that functions fill. */
HEED_EXPORT heed_status heed_tokenizer_get_facts(heed_tokenizer* tokenizer,
                                                 heed_tokenizer_facts* facts, heed_error* error);

/* What the files say that has no effect, one sentence a line, and a NUL, for which the buffer needs
   room. `size` leaves out the NUL. Empty for most tokenizers. */
HEED_EXPORT heed_status heed_tokenizer_warnings(heed_tokenizer* tokenizer, char* text,
                                                size_t capacity, size_t* size, heed_error* error);

/* A token that is found in a text before the text is cut into pieces, such as <s>. */
typedef struct heed_added_token {
  size_t struct_size;
  int32_t id;          /* in the vocabulary */
  int32_t special;     /* left out of a decoded text unless it is asked for */
  heed_string content; /* valid until the tokenizer is freed */
} heed_added_token;

/* Added token `index`, in the order of their ids. */
HEED_EXPORT heed_status heed_tokenizer_added_token(heed_tokenizer* tokenizer, size_t index,
                                                   heed_added_token* token, heed_error* error);
/* The token of an id, as the vocabulary has it. Valid until the tokenizer is freed. */
HEED_EXPORT heed_status heed_tokenizer_token(heed_tokenizer* tokenizer, int32_t id,
                                             heed_string* token, heed_error* error);
/* The id of a token; -1 if there is none. */
HEED_EXPORT heed_status heed_tokenizer_token_id(heed_tokenizer* tokenizer, heed_string token,
                                                int32_t* id, heed_error* error);
/* Whether the token of an id is special: 1, otherwise 0. */
HEED_EXPORT heed_status heed_tokenizer_is_special(heed_tokenizer* tokenizer, int32_t id,
                                                  int32_t* special, heed_error* error);

/* The ids of a text, with the tokens that belong around it if `special`: at most `capacity`.
   `count` is how many there are, also when the buffer is too small. */
HEED_EXPORT heed_status heed_tokenizer_encode(heed_tokenizer* tokenizer, heed_string text,
                                              int32_t special, int32_t* tokens, size_t capacity,
                                              size_t* count, heed_error* error);
/* The text of ids, without special tokens if `skip_special`, and a NUL, for which the buffer needs
   room. `size` leaves out the NUL. Ids without a token are left out. */
HEED_EXPORT heed_status heed_tokenizer_decode(heed_tokenizer* tokenizer, const int32_t* tokens,
                                              size_t count, int32_t skip_special, char* text,
                                              size_t capacity, size_t* size, heed_error* error);

/* What offsets count. */
enum { HEED_OFFSETS_BYTES = 0, HEED_OFFSETS_CODE_POINTS = 1 };

/* As heed::EncodeOptions. */
typedef struct heed_encode_options {
  size_t struct_size;
  int64_t max_tokens; /* special ones included; 0: no limit */
  int32_t special;    /* with the tokens that belong around a text */
  int32_t offsets;    /* HEED_OFFSETS_ */
} heed_encode_options;

HEED_EXPORT heed_status heed_encode_options_init_sized(heed_encode_options* options, size_t size,
                                                       heed_error* error);
static inline heed_status heed_encode_options_init(heed_encode_options* options) {
  return heed_encode_options_init_sized(options, sizeof(heed_encode_options), NULL);
}

/* The ids of texts, on the threads of `executor`, or of one that all share if it is NULL. */
HEED_EXPORT heed_status heed_tokenizer_encode_batch(heed_tokenizer* tokenizer,
                                                    const heed_string* texts, size_t count,
                                                    int32_t special, heed_executor* executor,
                                                    heed_encode_result** result, heed_error* error);
/* The tokens of a text with their places. Beyond max_tokens the text loses its end. */
HEED_EXPORT heed_status heed_tokenizer_encode_with_offsets(heed_tokenizer* tokenizer,
                                                           heed_string text,
                                                           const heed_encode_options* options,
                                                           heed_encode_result** result,
                                                           heed_error* error);
/* The tokens of two texts, which cross-encoders read. Beyond max_tokens the longer text loses its
   end, then both do. */
HEED_EXPORT heed_status heed_tokenizer_encode_pair(heed_tokenizer* tokenizer, heed_string first,
                                                   heed_string second,
                                                   const heed_encode_options* options,
                                                   heed_encode_result** result, heed_error* error);
/* heed_tokenizer_encode_with_offsets() of many texts, on threads. */
HEED_EXPORT heed_status heed_tokenizer_encode_batch_with_offsets(
    heed_tokenizer* tokenizer, const heed_string* texts, size_t count,
    const heed_encode_options* options, heed_executor* executor, heed_encode_result** result,
    heed_error* error);

/* The part [begin, end) of a text. */
typedef struct heed_token_offsets {
  size_t begin; /* of the first byte or code point */
  size_t end;   /* of the one after the last */
} heed_token_offsets;

/* The tokens of a text or of a pair. After heed_tokenizer_encode_batch() only `tokens` is set. */
typedef struct heed_encoding {
  size_t struct_size;
  const int32_t* tokens;             /* ids */
  const int32_t* type_ids;           /* the segment: 0, or 1 for what belongs to the second text */
  const int32_t* sequence_ids;       /* the text: 0 or 1, or -1 for an added special token */
  const heed_token_offsets* offsets; /* {0, 0} for an added special token */
  size_t token_count;                /* elements of each of these */
} heed_encoding;

/* The number of texts, or 1 for a pair. */
HEED_EXPORT heed_status heed_encode_result_count(heed_encode_result* result, size_t* count,
                                                 heed_error* error);
/* The tokens of text `index`. */
HEED_EXPORT heed_status heed_encode_result_get(heed_encode_result* result, size_t index,
                                               heed_encoding* encoding, heed_error* error);
HEED_EXPORT heed_status heed_encode_result_free(heed_encode_result* result, heed_error* error);

/* Decodes ids one by one. A stream is used by one thread at a time; for a second one its functions
   are HEED_ERROR_BUSY. */
HEED_EXPORT heed_status heed_decode_stream_create(heed_tokenizer* tokenizer, int32_t skip_special,
                                                  heed_decode_stream** stream, heed_error* error);
/* The text that later ids cannot change: whole code points, often none. Valid until the next call
   with the stream. */
HEED_EXPORT heed_status heed_decode_stream_feed(heed_decode_stream* stream, int32_t token,
                                                heed_string* text, heed_error* error);
/* The rest of the text, likewise. The stream is then as new. */
HEED_EXPORT heed_status heed_decode_stream_finish(heed_decode_stream* stream, heed_string* text,
                                                  heed_error* error);
/* Text that was fed and not given out is lost. */
HEED_EXPORT heed_status heed_decode_stream_free(heed_decode_stream* stream, heed_error* error);

/* Reads the chat templates of a model directory, a tokenizer_config.json, a chat_template.jinja or
   a GGUF file. `tokenizer` NULL: the one beside them. A template may be used by any number of
   threads. */
HEED_EXPORT heed_status heed_chat_template_load(const char* path, heed_tokenizer* tokenizer,
                                                heed_chat_template** chat_template,
                                                heed_error* error);
/* Reads Jinja. */
HEED_EXPORT heed_status heed_chat_template_parse(heed_string jinja, heed_tokenizer* tokenizer,
                                                 heed_chat_template** chat_template,
                                                 heed_error* error);
/* Its tokenizer: a handle of its own, which the caller frees. */
HEED_EXPORT heed_status heed_chat_template_tokenizer(heed_chat_template* chat_template,
                                                     heed_tokenizer** tokenizer, heed_error* error);
/* Prompts that were made of it stay valid. */
HEED_EXPORT heed_status heed_chat_template_free(heed_chat_template* chat_template,
                                                heed_error* error);

/* As heed::ChatOptions. */
typedef struct heed_chat_prompt_options {
  size_t struct_size;
  const char* tools;                  /* a JSON array in OpenAI's form; NULL: none */
  const char* chat_template_kwargs;   /* a JSON object; NULL: none */
  const char* chat_template;          /* Jinja; NULL: the template itself */
  int32_t add_generation_prompt;      /* ends the prompt where the answer begins */
  int32_t control_tokens_in_messages; /* control tokens in messages are read as such */
  const char* tool_choice;            /* as ChatOptions has it; NULL: auto */
  int32_t parallel_tool_calls;        /* an answer may have several calls */
  int32_t reserved;                   /* 0 */
} heed_chat_prompt_options;

HEED_EXPORT heed_status heed_chat_prompt_options_init_sized(heed_chat_prompt_options* options,
                                                            size_t size, heed_error* error);
static inline heed_status heed_chat_prompt_options_init(heed_chat_prompt_options* options) {
  return heed_chat_prompt_options_init_sized(options, sizeof(heed_chat_prompt_options), NULL);
}

/* A prompt made of messages. */
typedef struct heed_chat_prompt {
  size_t struct_size;
  heed_string text;      /* as the template makes it */
  const int32_t* tokens; /* of the text */
  size_t token_count;
  const int32_t* end_tokens; /* end an answer, besides those of the model */
  size_t end_token_count;
} heed_chat_prompt;

/* The prompt for the answer that follows messages: a JSON array in OpenAI's form. If its text
   begins with that of `earlier`, its tokens begin with those of `earlier`: for the next turn, the
   last prompt with the text and the tokens of its answer appended. NULL: there is none. */
HEED_EXPORT heed_status heed_chat_template_prompt(heed_chat_template* chat_template,
                                                  heed_string messages,
                                                  const heed_chat_prompt_options* options,
                                                  const heed_chat_prompt* earlier,
                                                  heed_chat_prompt_result** result,
                                                  heed_error* error);

/* The prompt. */
HEED_EXPORT heed_status heed_chat_prompt_result_get(heed_chat_prompt_result* result,
                                                    heed_chat_prompt* prompt, heed_error* error);
HEED_EXPORT heed_status heed_chat_prompt_result_free(heed_chat_prompt_result* result,
                                                     heed_error* error);

#ifdef __cplusplus
}
#endif
