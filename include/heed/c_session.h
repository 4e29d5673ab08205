#pragma once

/* Many requests at a time, step by step (continuous batching). */

#include "heed/c_generate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Generates for many requests at a time. */
typedef struct heed_session heed_session;

/* As heed::SessionOptions. */
typedef struct heed_session_options {
  size_t struct_size;
  int64_t max_active_tokens;   /* of running requests, prompts and outputs of all beams */
  int64_t max_active_requests; /* 0: no limit */
  int64_t max_prefill_tokens;  /* prompt tokens computed in one step */
  int64_t max_cached_tokens;   /* of ended requests, kept for the next turn of a conversation */
  int64_t reserved_tokens;     /* of the kv cache, reserved by the first step */
  int32_t balance_prefill;     /* a long prompt at most halves the speed of others */
  int32_t reserved;            /* 0 */
  /* Asked before each layer of a pass, if it is not NULL. Non-zero ends the step early, which
     leaves all requests as they were. */
  int (*interrupted)(void* user_data);
  void* user_data;
} heed_session_options;

/* As heed::Request. */
typedef struct heed_request {
  size_t struct_size;
  heed_prompt prompt;                   /* continued, or read by the encoder */
  const heed_generate_options* options; /* NULL: the defaults */
  const heed_search_options* search;    /* NULL: no search, but by a translator */
  const char* source_language;          /* NULL: that of the model's files */
  const char* target_language;          /* likewise */
  const char* const* adapters;          /* the names of those that apply; NULL: all */
  size_t adapter_count;
  int32_t alignments;      /* whether candidates have them; of a translator */
  int32_t reserved;        /* 0 */
  int32_t confidence;      /* whether candidates have it; of a translator */
  int32_t reserved_behind; /* 0 */
} heed_request;

HEED_EXPORT heed_status heed_session_options_init_sized(heed_session_options* options, size_t size,
                                                        heed_error* error);
HEED_EXPORT heed_status heed_request_init_sized(heed_request* request, size_t size,
                                                heed_error* error);
static inline heed_status heed_session_options_init(heed_session_options* options) {
  return heed_session_options_init_sized(options, sizeof(heed_session_options), NULL);
}
static inline heed_status heed_request_init(heed_request* request) {
  return heed_request_init_sized(request, sizeof(heed_request), NULL);
}

/* What a step has added to the output of a request. Valid during the call. */
typedef struct heed_delta {
  size_t struct_size;
  uint64_t request;      /* the id of heed_session_add() */
  heed_string text;      /* whole code points */
  const int32_t* tokens; /* the new token ids */
  size_t token_count;
  /* The last delta of a request has one of these; a search has no other deltas. */
  const heed_generation* generation; /* the whole output */
  const heed_candidate* candidates;  /* of a search, best first */
  size_t candidate_count;
  const char* failure;                /* why the request failed */
  const heed_confidence* confidences; /* of each candidate; NULL unless asked for */
} heed_delta;

/* Receives the parts of an output. Non-zero cancels the request. May call heed_session_add(),
   heed_session_cancel() and heed_session_get_facts(); heed_session_step() and heed_session_close()
   are HEED_ERROR_BUSY inside it. */
typedef int (*heed_on_delta)(void* user_data, const heed_delta* delta);

/* A session is used by one thread at a time; for a second one its functions are HEED_ERROR_BUSY.
   Several sessions may share a model, which may be freed before them. */
HEED_EXPORT heed_status heed_session_create(heed_model* model, const heed_session_options* options,
                                            heed_session** session, heed_error* error);
/* Adds a request, which joins a later step. */
HEED_EXPORT heed_status heed_session_add(heed_session* session, const heed_request* request,
                                         heed_on_delta on_delta, void* user_data, uint64_t* id,
                                         heed_error* error);
/* Ends a request, whose function is not called again. Does nothing if it has ended. */
HEED_EXPORT heed_status heed_session_cancel(heed_session* session, uint64_t id, heed_error* error);
/* Computes the next tokens of all running requests. `requests_left` becomes 0 when all have ended.
 */
HEED_EXPORT heed_status heed_session_step(heed_session* session, int32_t* requests_left,
                                          heed_error* error);
/* Cancels all requests. Afterwards only heed_session_free() succeeds. */
HEED_EXPORT heed_status heed_session_close(heed_session* session, heed_error* error);
/* Frees a session, whose requests end. HEED_ERROR_BUSY inside its step. */
HEED_EXPORT heed_status heed_session_free(heed_session* session, heed_error* error);

/* How busy a session is. */
typedef struct heed_session_facts {
  size_t struct_size;
  int64_t requests;         /* that run or wait */
  int64_t waiting_requests; /* that wait */
  int64_t rows_in_use;      /* of the kv cache */
  int64_t reused_tokens;    /* whose keys and values were kept */
} heed_session_facts;

/* Fills `facts`, whose struct_size the caller has set. */
HEED_EXPORT heed_status heed_session_get_facts(heed_session* session, heed_session_facts* facts,
                                               heed_error* error);
/* Forgets the keys and values of ended requests. */
HEED_EXPORT heed_status heed_session_clear_cached_tokens(heed_session* session, heed_error* error);

#ifdef __cplusplus
}
#endif
