#pragma once

/* Models and their tokens. */

#include "heed/c_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A loaded model with its tokenizer. */
typedef struct heed_model heed_model;

/* Types of weights. */
enum {
  HEED_WEIGHTS_F32 = 0,
  HEED_WEIGHTS_BF16 = 1,
  HEED_WEIGHTS_Q8_0 = 2,
  HEED_WEIGHTS_Q6_K = 3,
  HEED_WEIGHTS_Q5_1 = 4,
  HEED_WEIGHTS_Q5_0 = 5,
  HEED_WEIGHTS_Q5_K = 6,
  HEED_WEIGHTS_Q4_1 = 7,
  HEED_WEIGHTS_Q4_0 = 8,
  HEED_WEIGHTS_Q4_K = 9
};
/* Arithmetic, and types of the kv cache. */
enum { HEED_COMPUTE_F32 = 0, HEED_COMPUTE_BF16 = 1, HEED_COMPUTE_INT8 = 2 };

/* How far a download is. */
typedef struct heed_download {
  size_t struct_size;
  heed_string model;           /* OWNER/NAME */
  uint64_t bytes, total_bytes; /* that are there; of all files */
  int32_t files, total_files;  /* complete ones; all */
  int32_t waiting;             /* another process downloads the same file */
} heed_download;

/* Where models of the Hugging Face hub are looked up. What is NULL comes from the environment, as
   heed::HubOptions says. */
typedef struct heed_hub_options {
  size_t struct_size;
  const char* endpoint; /* of the hub, https://huggingface.co */
  const char* cache;    /* the directory of downloaded models */
  const char* token;    /* sent to the endpoint only */
  int32_t offline;      /* 0, 1 or HEED_DEFAULT */
  /* Called about ten times a second during a download; non-zero ends it. */
  int (*on_download)(void* user_data, const heed_download* download);
  void* user_data;
} heed_hub_options;

/* A LoRA adapter. */
typedef struct heed_adapter {
  const char* path; /* a directory or OWNER/NAME */
  const char* name; /* by which requests choose it; NULL: the last part of the path */
  float scale;      /* factor of what the adapter adds; 1 is usual */
} heed_adapter;

/* As heed::LoadOptions. */
typedef struct heed_load_options {
  size_t struct_size;
  int32_t weights;              /* HEED_WEIGHTS_, or HEED_DEFAULT: as they are stored */
  int32_t compute;              /* HEED_COMPUTE_ or HEED_DEFAULT */
  int32_t cache;                /* HEED_COMPUTE_ or HEED_DEFAULT */
  int32_t has_random_weights;   /* whether weights are initialised, not read */
  uint64_t random_weights;      /* the seed, if has_random_weights */
  int64_t rope_context;         /* tokens or HEED_DEFAULT */
  const heed_adapter* adapters; /* apply together; NULL: none */
  size_t adapter_count;
  int32_t speculate_ngram;     /* drafts by prompt lookup */
  int32_t draft_weights;       /* HEED_WEIGHTS_ or HEED_DEFAULT */
  const char* draft;           /* the draft model; NULL: none */
  heed_executor* executor;     /* NULL: one that all share, on all processors */
  const heed_hub_options* hub; /* NULL: the environment alone */
  const char* weight_cache;    /* directory of packed weights that processes share; NULL: none */
  const char* device;          /* "cpu", "gpu", "gpu:1" or "auto"; NULL: "auto" */
  const char* shortlist;       /* file of a translator's lexical shortlist; NULL: none */
} heed_load_options;

HEED_EXPORT heed_status heed_hub_options_init_sized(heed_hub_options* options, size_t size,
                                                    heed_error* error);
HEED_EXPORT heed_status heed_load_options_init_sized(heed_load_options* options, size_t size,
                                                     heed_error* error);
static inline heed_status heed_hub_options_init(heed_hub_options* options) {
  return heed_hub_options_init_sized(options, sizeof(heed_hub_options), NULL);
}
static inline heed_status heed_load_options_init(heed_load_options* options) {
  return heed_load_options_init_sized(options, sizeof(heed_load_options), NULL);
}

/* Opens a model directory, a GGUF file or OWNER/NAME of the hub. `options` may be NULL, here and
   wherever there are options. A model may be used by any number of threads. */
HEED_EXPORT heed_status heed_model_load(const char* path, const heed_load_options* options,
                                        heed_model** model, heed_error* error);
/* Sessions and calls that run keep what they need. */
HEED_EXPORT heed_status heed_model_free(heed_model* model, heed_error* error);

/* What a model is. */
typedef struct heed_model_facts {
  size_t struct_size;
  heed_string family; /* "llama"; valid until the model is freed */
  int32_t has_encoder, has_decoder, has_tokenizer, has_chat_template; /* 0 or 1 */
  int64_t context_length;                                             /* tokens; 0: not limited */
  int64_t vocab_size;     /* tokens are 0 to vocab_size - 1 */
  int64_t embedding_size; /* elements of an embedding */
  heed_string gpu;        /* on which it computes; empty: the CPU. Valid until the model is freed */
} heed_model_facts;

/* The caller sets facts->struct_size, as in all structs that functions fill. */
HEED_EXPORT heed_status heed_model_get_facts(heed_model* model, heed_model_facts* facts,
                                             heed_error* error);
/* The tokens that end an output, at most `capacity`. `count` is how many there are, here and in the
   functions below also when the buffer is too small. */
HEED_EXPORT heed_status heed_model_eos_ids(heed_model* model, int32_t* tokens, size_t capacity,
                                           size_t* count, heed_error* error);

/* What the model's files say that has no effect, one sentence a line, and a NUL, for which the
   buffer needs room. `size` leaves out the NUL. Empty for most models. */
HEED_EXPORT heed_status heed_model_warnings(heed_model* model, char* text, size_t capacity,
                                            size_t* size, heed_error* error);

/* The token ids of a text, with special tokens around it if `special`. */
HEED_EXPORT heed_status heed_tokenize(heed_model* model, heed_string text, int32_t special,
                                      int32_t* tokens, size_t capacity, size_t* count,
                                      heed_error* error);
/* The text of token ids, without special tokens if `skip_special`, and a NUL, for which the buffer
   needs room. `size` leaves out the NUL. */
HEED_EXPORT heed_status heed_detokenize(heed_model* model, const int32_t* tokens, size_t count,
                                        int32_t skip_special, char* text, size_t capacity,
                                        size_t* size, heed_error* error);
/* A single token for display, likewise. */
HEED_EXPORT heed_status heed_token_text(heed_model* model, int32_t token, char* text,
                                        size_t capacity, size_t* size, heed_error* error);
/* What a token between others adds to a text, with its leading space, likewise: any bytes, perhaps
   a part of a code point. */
HEED_EXPORT heed_status heed_token_bytes(heed_model* model, int32_t token, char* bytes,
                                         size_t capacity, size_t* size, heed_error* error);

#ifdef __cplusplus
}
#endif
