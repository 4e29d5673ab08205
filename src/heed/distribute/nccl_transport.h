#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/distribute/group.h"
#include "heed/distribute/nccl_plugin.h"

namespace heed::distribute {

/// This rank's connection by the plug-in for NCCL (nccl_plugin.h), whose errors it throws as Error.
/// The destructor aborts a connection that was not finished, without waiting for other ranks.
class NcclConnection {
 public:
  /// Takes the GPU with this process's local rank, which the launcher has set. `nccl` must outlive
  /// this.
  explicit NcclConnection(const heed_nccl_plugin& nccl);
  ~NcclConnection();
  NcclConnection(const NcclConnection&) = delete;
  NcclConnection& operator=(const NcclConnection&) = delete;

  /// Makes the ids that all ranks pass to connect(). One rank calls it.
  std::string make_ids();
  /// Connects the channels of all ranks. Collective.
  void connect(const std::string& ids, int rank, int size, std::chrono::milliseconds deadline);
  void exchange(int channel, const heed_nccl_exchange& exchange);
  /// Whether the channel's exchange is over.
  bool done(int channel);
  /// Ends the connection when no exchange is under way. Collective.
  void finish();

 private:
  void check(int code) const;

  const heed_nccl_plugin& nccl_;
  void* connection_ = nullptr;
  std::array<char, HEED_NCCL_ERROR_BYTES> error_{};
};

/// Carries the messages of operations: large ones by NCCL, from GPU to GPU, small ones by the base
/// transport.
///
/// NCCL has no tags: two ranks match what they launch on a communicator by its order, and a kernel
/// runs until the other rank has launched its own. Therefore
/// - every tag has a communicator, since operations that are under way at once overtake each other;
/// - a communicator has one kernel under way, which sends and receives at the same time
///   (heed_nccl_exchange). It is launched when done() is asked: by then all messages of a round are
///   known, and a rank that sends does not keep itself from receiving;
/// - messages travel in parts, which fit memory that is allocated at the beginning: allocating more
///   would wait for all kernels of the GPU, also for those of other operations.
/// The messages of a round belong to the same round on all ranks (collectives.h), and the parts of
/// a message go in order. So of all exchanges that ranks wait for, one can always take place: the
/// first part of the first round of the oldest operation that is not complete.
class NcclTransport : public Transport {
 public:
  /// The base transport is faster for fewer bytes than copies to a GPU and back.
  static constexpr size_t kLeastBytes = size_t{64} << 10;

  /// `base` must outlive this.
  NcclTransport(Transport& base, std::unique_ptr<NcclConnection> nccl)
      : base_(base), nccl_(std::move(nccl)) {}

  int rank() const override { return base_.rank(); }
  int size() const override { return base_.size(); }
  std::string host() const override { return base_.host(); }
  Request send(int to, int tag, std::span<const std::byte> bytes) override;
  Request receive(int from, int tag, std::span<std::byte> bytes) override;
  bool done(Request& request) override;
  /// Cancels a message of the base transport: operations cancel none.
  void cancel(Request& request) override { base_.cancel(request); }
  void finish() override;

 private:
  struct Message {
    int channel;
    size_t parts;  // that have not arrived
  };
  template <typename Byte>
  struct Part {
    Message* message;
    int peer;
    std::span<Byte> bytes;
  };
  template <typename Byte>
  struct Direction {
    std::deque<Part<Byte>> waiting;
    std::optional<Part<Byte>> under_way;

    void begin();
    void end();
  };
  struct Channel {
    Direction<const std::byte> out;
    Direction<std::byte> in;

    bool busy() const { return out.under_way || in.under_way; }
  };

  template <typename Byte>
  Request enqueue(Direction<Byte>& direction, int channel, int peer, std::span<Byte> bytes);
  void progress(int channel);

  Transport& base_;
  std::unique_ptr<NcclConnection> nccl_;
  std::array<Channel, HEED_NCCL_CHANNELS> channels_;
  std::vector<std::unique_ptr<Message>> messages_;  // under way
};

/// Opens heed's plug-in for NCCL. Throws Error, which says what to install, when it or a library
/// that it needs is missing.
const heed_nccl_plugin& nccl_plugin();

/// Makes the group's operations send large messages by NCCL. Throws Error on one rank,
/// ReportedElsewhere on the others, when `open` throws, a rank has no GPU of its own, or NCCL has
/// not connected the ranks within the deadline. Collective.
void use_nccl(Group& group, std::chrono::milliseconds deadline,
              const std::function<const heed_nccl_plugin&()>& open = nccl_plugin);

}  // namespace heed::distribute
