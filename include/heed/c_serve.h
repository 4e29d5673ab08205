#pragma once

/* The server of `heed serve` in a program (docs/serving.md). */

#include "heed/c_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The server of `heed serve` in this program. */
typedef struct heed_server heed_server;

/* As heed::UnknownFields. */
enum { HEED_UNKNOWN_FIELDS_IGNORE = 0, HEED_UNKNOWN_FIELDS_REFUSE = 1 };

/* As heed::ServerOptions. Times are in milliseconds. */
typedef struct heed_server_options {
  size_t struct_size;
  const char* host;            /* an address; NULL: 127.0.0.1 */
  int32_t port;                /* 0: the system chooses one */
  int32_t log_texts;           /* prompts and answers, too */
  const heed_string* api_keys; /* requests need one of these; none: no key is needed */
  size_t api_key_count;
  const heed_string* cors_origins; /* whose pages may call the server */
  size_t cors_origin_count;
  int64_t queued_requests; /* that may wait */
  int64_t queued_tokens;   /* of these */
  int64_t connections;     /* at a time */
  int64_t header_bytes;    /* of a request, at most */
  int64_t body_bytes;      /* of a request, at most */
  int64_t request_time;    /* of a request that says nothing else */
  int64_t idle_time;       /* between two requests of a connection */
  int64_t header_time;     /* from the first byte of a request to the last of its header */
  int64_t body_time;       /* in which its body arrives */
  int64_t write_time;      /* in which a client has to read 64 kB */
  /* Receives a line of JSON for each request, if it is not NULL, on a thread of the server. */
  void (*log)(void* user_data, heed_string line);
  void* user_data;
  int64_t pending_bytes;  /* of an answer in parts, that wait for a client which does not read */
  int32_t unknown_fields; /* HEED_UNKNOWN_FIELDS_, of requests */
  int32_t has_seed;       /* whether requests that have no seed have this one */
  uint64_t seed;          /* likewise */
} heed_server_options;

/* As heed::ModelSource, with a model that is loaded. */
typedef struct heed_served_model {
  size_t struct_size;
  const char* name;            /* by which requests choose it */
  heed_model* model;           /* may be freed before the server; its adapters are served, too */
  int64_t max_active_tokens;   /* as in heed_session_options */
  int64_t max_active_requests; /* likewise */
  int64_t max_cached_tokens;   /* likewise */
  int64_t max_prefill_tokens;  /* likewise */
  const char* source_language; /* of a translator whose files do not say; NULL: not said */
  const char* target_language; /* likewise */
  /* The file by which int8 and uint8 vectors of an embedder are scaled; NULL: there are none. */
  const char* embedding_ranges;
} heed_served_model;

HEED_EXPORT heed_status heed_server_options_init_sized(heed_server_options* options, size_t size,
                                                       heed_error* error);
HEED_EXPORT heed_status heed_served_model_init_sized(heed_served_model* model, size_t size,
                                                     heed_error* error);
static inline heed_status heed_server_options_init(heed_server_options* options) {
  return heed_server_options_init_sized(options, sizeof(heed_server_options), NULL);
}
static inline heed_status heed_served_model_init(heed_served_model* model) {
  return heed_served_model_init_sized(model, sizeof(heed_served_model), NULL);
}

/* A server without models, which does not listen yet. It is used by one thread at a time; for a
   second one its functions are HEED_ERROR_BUSY. */
HEED_EXPORT heed_status heed_server_create(const heed_server_options* options, heed_server** server,
                                           heed_error* error);
/* A model that heed_server_start() will serve. */
HEED_EXPORT heed_status heed_server_add_model(heed_server* server, const heed_served_model* model,
                                              heed_error* error);
/* Serves, on threads of its own, until heed_server_stop() or heed_server_free(). */
HEED_EXPORT heed_status heed_server_start(heed_server* server, heed_error* error);
/* The port, once it has started. */
HEED_EXPORT heed_status heed_server_port(heed_server* server, int32_t* port, heed_error* error);
/* Accepts no more requests, completes those that are being answered, for at most `milliseconds`,
   and ends. `completed` becomes 1 if all were, else 0. Does nothing if it does not run. */
HEED_EXPORT heed_status heed_server_stop(heed_server* server, int64_t milliseconds,
                                         int32_t* completed, heed_error* error);
/* Ends all connections and requests. */
HEED_EXPORT heed_status heed_server_free(heed_server* server, heed_error* error);

#ifdef __cplusplus
}
#endif
