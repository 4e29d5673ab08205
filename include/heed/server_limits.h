#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heed {

/// Limits of the clients of a Server.
struct HttpLimits {
  size_t header_bytes = 65'536;         // at least 256
  size_t body_bytes = size_t{4} << 20;  // of a request
  /// Bytes of a streamed response that may wait for a client which does not read them.
  size_t pending_bytes = size_t{1} << 20;
  int connections = 4096;                         // at a time
  std::chrono::milliseconds idle_time{75'000};    // between two requests of a connection
  std::chrono::milliseconds header_time{10'000};  // from the first byte of a request
  std::chrono::milliseconds body_time{30'000};    // in which the body arrives
  std::chrono::milliseconds write_time{30'000};   // in which a client has to read 64 kB
};

/// Limits of what waits in a Server; more is refused at once. What is being computed is bounded by
/// the kv cache (BatchingOptions), not here.
struct QueueLimits {
  int64_t requests = 256;    // that wait
  int64_t tokens = 262'144;  // of prompts, texts to embed and the like
};

}  // namespace heed
