#include "heed/serve/http/transaction.h"

#include <utility>

namespace heed::serve {

void HttpTransaction::add_header(std::pair<std::string, std::string> header) {
  const MutexLock lock(mutex_);
  headers_.push_back(std::move(header));
}

void HttpTransaction::respond(HttpResponse response) {
  {
    const MutexLock lock(mutex_);
    if (status_ != 0) return;
    status_ = response.status;
    head_ = std::move(response);
    ended_ = true;
  }
  wake_();
}

void HttpTransaction::begin(HttpResponse head) {
  {
    const MutexLock lock(mutex_);
    if (status_ != 0) return;
    status_ = head.status;
    bytes_ = std::exchange(head.body, {});
    head_ = std::move(head);
    streamed_ = true;
  }
  wake_();
}

void HttpTransaction::send(std::string_view part) {
  {
    const MutexLock lock(mutex_);
    if (!streamed_ || ended_ || overflowed_ || disconnected_) return;
    bytes_ += part;
    if (bytes_.size() > max_pending_) {
      overflowed_ = true;
      bytes_.clear();
    }
  }
  wake_();
}

void HttpTransaction::end() {
  {
    const MutexLock lock(mutex_);
    if (!streamed_ || ended_) return;
    ended_ = true;
  }
  wake_();
}

void HttpTransaction::disconnect() {
  const MutexLock lock(mutex_);
  disconnected_ = true;
  bytes_.clear();
}

HttpTransaction::Outgoing HttpTransaction::take() {
  const MutexLock lock(mutex_);
  if (head_) head_->headers.insert(head_->headers.end(), headers_.begin(), headers_.end());
  return {.head = std::exchange(head_, std::nullopt),
          .bytes = std::exchange(bytes_, {}),
          .streamed = streamed_,
          .ended = ended_};
}

bool HttpTransaction::ready() const {
  const MutexLock lock(mutex_);
  return head_ || !bytes_.empty() || ended_;
}

bool HttpTransaction::disconnected() const {
  const MutexLock lock(mutex_);
  return disconnected_;
}

bool HttpTransaction::responded() const {
  const MutexLock lock(mutex_);
  return status_ != 0;
}

bool HttpTransaction::ended() const {
  const MutexLock lock(mutex_);
  return ended_;
}

bool HttpTransaction::overflowed() const {
  const MutexLock lock(mutex_);
  return overflowed_;
}

int HttpTransaction::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

}  // namespace heed::serve
