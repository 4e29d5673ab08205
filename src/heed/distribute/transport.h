#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace heed::distribute {

/// Tags of the messages between ranks: statuses, mail (headers, payloads) and operations.
constexpr int kStatusTag = 1, kMailHeaderTag = 2, kMailPayloadTag = 3, kOperationTag = 4;
/// An operation that runs alone has the first tag of operations; those that are under way at once
/// have the others.
constexpr int kOperationTags = 4;

/// Messages between the ranks of a run, which are processes on one or several hosts. Messages of
/// one sender with one tag arrive in order. All functions are called by one thread and throw Error
/// when the system underneath reports one.
class Transport {
 public:
  /// A message under way.
  using Request = void*;
  /// Receives from any rank.
  static constexpr int kAnyRank = -1;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The name of this rank's host.
  virtual std::string host() const = 0;

  /// Begins to send or receive a message of at most 2^30 bytes, which must stay in place until
  /// done() has returned true. Sender and receiver know its size.
  virtual Request send(int to, int tag, std::span<const std::byte> bytes) = 0;
  virtual Request receive(int from, int tag, std::span<std::byte> bytes) = 0;
  /// Whether the message has been sent or received. Messages move only while this is called. After
  /// it has returned true, the request is gone.
  virtual bool done(Request& request) = 0;
  /// Cancels the receipt of a message.
  virtual void cancel(Request& request) = 0;

  /// Ends the connection when no message is under way. Every rank calls it; launchers take a rank
  /// that ends without it for one that has failed. It may never return, for example MPICH's after a
  /// link was down.
  virtual void finish() = 0;
};

}  // namespace heed::distribute
