#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "heed/base/error.h"
#include "heed/distribute/messenger.h"
#include "heed/distribute/transport.h"

namespace heed::distribute {

/// What the threads of a test that play ranks share: the messages that were sent and not received.
class LocalMailbox {
 public:
  explicit LocalMailbox(int size) : size_(size) {}
  int size() const { return size_; }

  void put(int from, int to, int tag, std::span<const std::byte> bytes) {
    before_send(to, tag);
    const std::lock_guard lock(mutex_);
    if (stalled_ && tag == kStatusTag)
      for (Message& message : messages_)
        if (message.from == from && message.to == to) message.held = false;
    const bool held = (allowed_ && ++sent_[from] > *allowed_) || (stalled_ && tag != kStatusTag);
    messages_.push_back({from, to, tag, held, {bytes.begin(), bytes.end()}});
    bytes_ += static_cast<int64_t>(bytes.size());
  }

  bool take(int from, int to, int tag, std::span<std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    if (silent_.contains(to)) return false;
    const auto message = std::ranges::find_if(messages_, [&](const Message& m) {
      return m.to == to && m.tag == tag && !m.held &&
             (from == Transport::kAnyRank || m.from == from) && !silent_.contains(m.from);
    });
    if (message == messages_.end()) return false;
    require(message->bytes.size() == bytes.size(), "rank {} expects {} bytes, rank {} sent {}", to,
            bytes.size(), message->from, message->bytes.size());
    std::ranges::copy(message->bytes, bytes.begin());
    messages_.erase(message);
    return true;
  }

  /// From now on nothing reaches this rank or comes from it, as if its process had been stopped.
  void silence(int rank) {
    const std::lock_guard lock(mutex_);
    silent_.insert(rank);
  }

  /// From now on each rank can send so many messages; later ones stay here until release().
  void hold_after(int messages) {
    const std::lock_guard lock(mutex_);
    allowed_ = messages;
    sent_.clear();
  }
  void release() {
    const std::lock_guard lock(mutex_);
    allowed_.reset();
    for (Message& message : messages_) message.held = false;
  }

  /// From now on a message stays here until its sender sends the same rank a question or an answer.
  void stall() {
    const std::lock_guard lock(mutex_);
    stalled_ = true;
  }

  int64_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

  /// May throw, as a transport does that cannot reach a rank.
  std::function<void(int to, int tag)> before_send = [](int, int) {};
  /// What a rank does to end its connection.
  std::function<void(int rank)> finish = [](int) {};

 private:
  struct Message {
    int from, to, tag;
    bool held;
    std::vector<std::byte> bytes;
  };

  int size_;
  mutable std::mutex mutex_;
  std::deque<Message> messages_;
  std::optional<int> allowed_;
  bool stalled_ = false;
  std::map<int, int> sent_;  // by rank, since hold_after()
  std::set<int> silent_;
  int64_t bytes_ = 0;
};

/// The transport of a thread that plays a rank.
class LocalTransport : public Transport {
 public:
  LocalTransport(std::shared_ptr<LocalMailbox> mailbox, int rank)
      : mailbox_(std::move(mailbox)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return mailbox_->size(); }
  std::string host() const override { return fmt::format("host{}", rank_); }
  Request send(int to, int tag, std::span<const std::byte> bytes) override {
    mailbox_->put(rank_, to, tag, bytes);
    return keep({});
  }
  Request receive(int from, int tag, std::span<std::byte> bytes) override {
    return keep({from, tag, bytes});
  }
  bool done(Request& request) override {
    const auto* receipt = static_cast<Receipt*>(request);
    if (receipt->tag != 0 && !mailbox_->take(receipt->from, rank_, receipt->tag, receipt->bytes))
      return false;
    cancel(request);
    return true;
  }
  void cancel(Request& request) override {
    std::erase_if(receipts_, [&](const auto& receipt) { return receipt.get() == request; });
    request = nullptr;
  }
  void finish() override { mailbox_->finish(rank_); }

 private:
  struct Receipt {
    int from = 0, tag = 0;  // tag 0: a message that was sent
    std::span<std::byte> bytes = {};
  };

  Request keep(const Receipt& receipt) {
    receipts_.push_back(std::make_unique<Receipt>(receipt));
    return receipts_.back().get();
  }

  std::shared_ptr<LocalMailbox> mailbox_;
  int rank_;
  std::vector<std::unique_ptr<Receipt>> receipts_;  // of messages under way
};

/// Runs `rank(messenger)` on one thread for each rank. Returns the bytes that they sent and what
/// each threw.
struct LocalRun {
  int64_t bytes = 0;
  std::vector<std::exception_ptr> errors;
};

inline LocalRun run_ranks(int size, const std::function<void(Messenger&)>& rank,
                          Deadlines deadlines = {},
                          std::shared_ptr<LocalMailbox> mailbox = nullptr) {
  if (!mailbox) mailbox = std::make_shared<LocalMailbox>(size);
  LocalRun run;
  run.errors.resize(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int i = 0; i < size; ++i)
    threads.emplace_back([&, i] {
      try {
        Messenger messenger(std::make_unique<LocalTransport>(mailbox, i), deadlines);
        rank(messenger);
        messenger.finish();
      } catch (...) {
        run.errors[static_cast<size_t>(i)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  run.bytes = mailbox->bytes();
  return run;
}

/// The message of an error; "" for none.
inline std::string message_of(const std::exception_ptr& error) {
  if (!error) return "";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    return exception.what();
  }
}

}  // namespace heed::distribute
