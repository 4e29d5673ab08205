#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "heed/distribute/transport.h"

namespace heed::distribute {

/// Messages of any length that are not part of an operation: they arrive at any time, from any
/// rank, those of one rank in order. They move while progress() and try_receive() are called. One
/// thread uses it.
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
  void send(int to, std::string bytes);
  /// The next message that has arrived.
  std::optional<Message> try_receive();
  /// Makes progress with sending. Returns whether all messages have been sent.
  bool progress();
  /// Stops receiving: try_receive() must not be called any more.
  void close();

 private:
  /// Announces the bytes, which follow it.
  struct Header {
    int32_t from = 0;
    uint32_t bytes = 0;
  };
  struct Outgoing {
    Header header;
    std::string bytes;
    std::vector<Transport::Request> requests;
  };

  Transport& transport_;
  std::list<Outgoing> outgoing_;
  Header header_;
  Message incoming_;
  Transport::Request header_request_ = nullptr;   // receives header_
  Transport::Request payload_request_ = nullptr;  // receives incoming_.bytes
};

}  // namespace heed::distribute
