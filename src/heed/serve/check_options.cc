#include "heed/serve/check_options.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::serve {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongest{10'000'000'000};  // four months

void check_time(const char* name, milliseconds time) {
  require(time >= milliseconds(1) && time <= kLongest, "{} is {} ms, expected 1 to {} ms", name,
          time.count(), kLongest.count());
}

void check_count(const char* name, int64_t count, int64_t min) {
  require(count >= min, "{} is {}, expected {} or more", name, count, min);
}

void check_bytes(const char* name, size_t bytes, size_t min) {
  constexpr size_t kMost = size_t{1} << 40;
  require(bytes >= min && bytes <= kMost, "{} is {}, expected {} to {}", name, bytes, min, kMost);
}

}  // namespace

void check_options(const ServerOptions& options) {
  check_count("queue.requests", options.queue.requests, 0);
  check_count("queue.tokens", options.queue.tokens, 1);
  check_count("http.connections", options.http.connections, 1);
  check_bytes("http.header_bytes", options.http.header_bytes, 256);
  check_bytes("http.body_bytes", options.http.body_bytes, 1);
  check_bytes("http.pending_bytes", options.http.pending_bytes, 1);
  check_time("http.idle_time", options.http.idle_time);
  check_time("http.header_time", options.http.header_time);
  check_time("http.body_time", options.http.body_time);
  check_time("http.write_time", options.http.write_time);
  check_time("request_time", options.request_time);
  require(std::ranges::none_of(options.api_keys, &std::string::empty), "an API key is empty");
}

}  // namespace heed::serve
