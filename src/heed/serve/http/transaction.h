#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/serve/http/message.h"

namespace heed::serve {

/// A request and its response: the connection writes what others compute. Every function may be
/// called by any thread.
class HttpTransaction {
 public:
  /// `wake` tells the connection that there is something to write. Called by any thread. A client
  /// is dropped when more than `max_pending` bytes of a streamed body wait for it.
  HttpTransaction(HttpRequest request, size_t max_pending, std::function<void()> wake)
      : request_(std::move(request)), max_pending_(max_pending), wake_(std::move(wake)) {}

  const HttpRequest& request() const { return request_; }

  /// Adds a header to the response that follows.
  void add_header(std::pair<std::string, std::string> header);
  /// Responds. Only the first response counts.
  void respond(HttpResponse response);
  /// Begins a response with a streamed body, whose first part is that of `head`.
  void begin(HttpResponse head);
  /// Sends the next part of the body, unless the client has disconnected.
  void send(std::string_view part);
  /// Ends the body that begin() began.
  void end();

  bool disconnected() const;
  /// Whether respond() or begin() was called.
  bool responded() const;
  /// Whether the response is complete.
  bool ended() const;

  // For the connection:

  /// Bytes to write next.
  struct Outgoing {
    std::optional<HttpResponse> head;  // once
    std::string bytes;                 // of a streamed body
    bool streamed = false, ended = false;
  };
  /// Takes what was added since the last call.
  Outgoing take();
  /// Whether take() has something.
  bool ready() const;
  /// Notes that the client has disconnected.
  void disconnect();
  /// Whether the client is too slow and has to be disconnected.
  bool overflowed() const;
  /// The status of the response; 0 without one.
  int status() const;

 private:
  const HttpRequest request_;
  const size_t max_pending_;
  const std::function<void()> wake_;
  mutable Mutex mutex_;
  std::vector<std::pair<std::string, std::string>> headers_ HEED_GUARDED_BY(mutex_);
  std::optional<HttpResponse> head_ HEED_GUARDED_BY(mutex_);
  std::string bytes_ HEED_GUARDED_BY(mutex_);
  int status_ HEED_GUARDED_BY(mutex_) = 0;
  bool streamed_ HEED_GUARDED_BY(mutex_) = false;
  bool ended_ HEED_GUARDED_BY(mutex_) = false;
  bool overflowed_ HEED_GUARDED_BY(mutex_) = false;
  bool disconnected_ HEED_GUARDED_BY(mutex_) = false;
};

}  // namespace heed::serve
