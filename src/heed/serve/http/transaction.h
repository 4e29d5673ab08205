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

/// One request and its answer, between the connection and whoever computes the answer. Every
/// function may be called by any thread.
class HttpTransaction {
 public:
  /// `wake` tells the connection that there is something to do. Called by any thread. If more than
  /// `max_pending` bytes of an answer in parts wait to be sent, the client is dropped.
  HttpTransaction(HttpRequest request, size_t max_pending, std::function<void()> wake)
      : request_(std::move(request)), max_pending_(max_pending), wake_(std::move(wake)) {}

  const HttpRequest& request() const { return request_; }

  /// A header of the answer, before it is given.
  void add_header(std::pair<std::string, std::string> header);
  /// Answers. Of several answers the first one counts.
  void respond(HttpResponse response);
  /// Begins an answer whose body is sent in parts; its body is the first part.
  void begin(HttpResponse head);
  /// The next part. Nothing is sent if the client has gone.
  void send(std::string_view part);
  /// Ends an answer that begin() began.
  void end();

  bool disconnected() const;
  /// Whether respond() or begin() was called.
  bool answered() const;
  /// Whether the answer is complete.
  bool ended() const;

  // For the connection:

  /// What has to be sent next.
  struct Outgoing {
    std::optional<HttpResponse> head;  // once
    std::string bytes;                 // of the body of an answer in parts
    bool streamed = false, ended = false;
  };
  /// Takes what was added since the last call.
  Outgoing take();
  /// Whether take() has something.
  bool ready() const;
  /// The client has gone.
  void disconnect();
  /// Whether the client is too slow and has to be disconnected.
  bool overflowed() const;
  /// The status of the answer; 0 without one.
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
