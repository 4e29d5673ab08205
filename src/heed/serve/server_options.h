#pragma once

#include "heed/base/declared_option.h"
#include "heed/server_config.h"

// The options of the server, each declared once, as those of generation
// (generate/generate_options.h). serve.toml has them by their keys.
namespace heed::serve {

inline constexpr int64_t kLongestTime = 10'000'000'000;  // four months

#define HEED_SERVER_OPTIONS(OPTION)                                                    \
  OPTION(host, .help = "Address to listen on")                                         \
  OPTION(port, .help = "Port to listen on; 0: one that is free", .range = {0, 65'535}) \
  OPTION(log_texts, .help = "Log the bodies of requests, too")                         \
  OPTION(seed, .help = "Seed of requests that have none", .range = {0})                \
  OPTION(unknown_fields)                                                               \
  OPTION(request_time, .key = "request_seconds", .range = {1, kLongestTime})
// In C the first two are arrays, and models are loaded before they are served.
#define HEED_OTHER_SERVER_OPTIONS(OPTION)                                                         \
  OPTION(log_health, .help = "Log requests to /health and /metrics, too")                         \
  OPTION(api_keys, .help = "File with a key on each line; requests need one of them")             \
  OPTION(cors_origins, .help = "Origin whose pages may call the server, or * (repeatable)")       \
  OPTION(memory_limit, .key = "model_memory",                                                     \
         .help =                                                                                  \
             "Memory for models, such as 8GiB: those that are loaded on first use make room for " \
             "each other")
#define HEED_ALL_SERVER_OPTIONS(OPTION) \
  HEED_SERVER_OPTIONS(OPTION)           \
  HEED_OTHER_SERVER_OPTIONS(OPTION)

#define HEED_API_KEY_OPTIONS(OPTION)                   \
  OPTION(name)                                         \
  OPTION(key, .key = "value")                          \
  OPTION(requests_per_minute, .range = {0, 1'000'000}) \
  OPTION(priority, .range = {-1000, 1000})             \
  OPTION(manage)

#define HEED_HTTP_LIMITS(OPTION)                                           \
  OPTION(connections, .range = {1, INT32_MAX})                             \
  OPTION(header_bytes, .range = {256, kMaxSet})                            \
  OPTION(body_bytes, .range = {1, kMaxSet})                                \
  OPTION(pending_bytes, .range = {1, kMaxSet})                             \
  OPTION(idle_time, .key = "idle_seconds", .range = {1, kLongestTime})     \
  OPTION(header_time, .key = "header_seconds", .range = {1, kLongestTime}) \
  OPTION(body_time, .key = "body_seconds", .range = {1, kLongestTime})     \
  OPTION(write_time, .key = "write_seconds", .range = {1, kLongestTime})

#define HEED_QUEUE_LIMITS(OPTION)                                                  \
  OPTION(requests, .key = "queued_requests", .range = {0}, .served = {0, kMaxSet}) \
  OPTION(tokens, .key = "queued_tokens", .range = {1}, .served = {1, kMaxSet})

// Checked when the model is loaded, as SessionOptions.
#define HEED_BATCHING_OPTIONS(OPTION)                    \
  OPTION(max_active_tokens, .served = {1, kMaxServed})   \
  OPTION(max_active_requests, .served = {1, kMaxServed}) \
  OPTION(max_cached_tokens, .served = {0, kMaxServed})   \
  OPTION(max_prefill_tokens, .served = {1, kMaxServed})

// Beside these a ModelSource has LoadOptions, BatchingOptions, or a model that is loaded.
#define HEED_MODEL_SOURCE_OPTIONS(OPTION) \
  OPTION(name)                            \
  OPTION(aliases, .key = "served_name")   \
  OPTION(path)                            \
  OPTION(on_first_use)                    \
  OPTION(source_language)                 \
  OPTION(target_language)                 \
  OPTION(embedding_ranges)

// Beside these ServerConfig has ServerOptions.
#define HEED_SERVER_CONFIG_OPTIONS(OPTION) \
  OPTION(threads, .range = {0, 1024})      \
  OPTION(drain_time, .key = "drain_seconds", .range = {0, 1'000'000'000})

HEED_OPTION_TABLE(ServerOption, ServerOptions, HEED_ALL_SERVER_OPTIONS)
HEED_OPTION_TABLE(ApiKeyOption, ApiKey, HEED_API_KEY_OPTIONS)
HEED_OPTION_TABLE(HttpLimit, HttpLimits, HEED_HTTP_LIMITS)
HEED_OPTION_TABLE(QueueLimit, QueueLimits, HEED_QUEUE_LIMITS)
HEED_OPTION_TABLE(BatchingOption, BatchingOptions, HEED_BATCHING_OPTIONS)
HEED_OPTION_TABLE(ModelSourceOption, ModelSource, HEED_MODEL_SOURCE_OPTIONS)
HEED_OPTION_TABLE(ServerConfigOption, ServerConfig, HEED_SERVER_CONFIG_OPTIONS)

}  // namespace heed::serve
