#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heed::hub {

/// What heed reads of the status line and the headers of a response.
struct ResponseHead {
  int status = 0;                         // 0: there was no response
  std::optional<uint64_t> length;         // Content-Length
  std::optional<uint64_t> range_begin;    // of Content-Range
  std::chrono::seconds retry_after{0};    // Retry-After, if it is a number, or RateLimit
  std::string error_code, error_message;  // the hub's X-Error-Code and X-Error-Message

  bool has_body() const { return status == 200 || status == 206; }
  /// Too many requests, or a server that is overloaded or out of order for a moment.
  bool is_transient() const {
    return status == 408 || status == 429 || status == 500 || (status >= 502 && status <= 504);
  }
  /// "HTTP status 404 (the server's words)".
  std::string text() const;
};

/// Adds a line of a head; a status line begins a new head.
void read_head_line(ResponseHead& head, std::string_view line);

}  // namespace heed::hub
