#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "heed/distribute/transport.h"

namespace heed::distribute {

/// Messages of any length that nobody waits for: they arrive at any time, from any rank, those of
/// one rank in order. They move while deliver() and take() are called. One thread uses it.
class Mailbox {
 public:
  struct Message {
    int from = 0;
    std::string bytes;
  };

  /// `transport` must outlive this.
  explicit Mailbox(Transport& transport) : transport_(transport) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Begins to send at most 2^30 bytes; throws Error on more.
  void post(int to, std::string bytes);
  /// The next letter that has arrived.
  std::optional<Message> take();
  /// Goes on sending. Returns whether all letters have been sent.
  bool deliver();
  /// Ends listening for letters, after which none can be taken.
  void close();

 private:
  /// Announces the bytes, which follow it.
  struct Head {
    int32_t from = 0;
    uint32_t bytes = 0;
  };
  struct Outgoing {
    Head head;
    std::string bytes;
    std::vector<Transport::Request> requests;
  };

  Transport& transport_;
  std::list<Outgoing> outgoing_;
  Head head_;
  Message incoming_;
  Transport::Request listening_ = nullptr;  // for head_
  Transport::Request receiving_ = nullptr;  // incoming_
};

}  // namespace heed::distribute
