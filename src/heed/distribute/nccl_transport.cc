#include "heed/distribute/nccl_transport.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "heed/distribute/agree.h"
#include "heed/distribute/plugin.h"

namespace heed::distribute {
namespace {

static_assert(HEED_NCCL_CHANNELS == kOperationTags);

/// Between two polls of a connection that is being made.
constexpr std::chrono::milliseconds kNcclPollInterval{1};

/// The number of this process among those that the launcher has started on this host.
int local_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char* number = std::getenv(name)) return std::atoi(number);
  return 0;
}

/// Runs an operation on each communicator, one after the other. NCCL connects two ranks when they
/// first exchange a message on a communicator, and allocates memory for it, which would wait for
/// kernels of other communicators.
void connect_peers(Messenger& messenger) {
  const auto size = static_cast<size_t>(messenger.size());
  constexpr size_t kLeast = NcclTransport::kLeastBytes / sizeof(float);
  std::vector<float> values(size * kLeast);
  Bounds shards;
  for (size_t shard = 0; shard <= size; ++shard)
    shards.push_back(static_cast<int64_t>(shard * kLeast));
  for (size_t i = 0; i < Messenger::kMaxConcurrent; ++i) {
    messenger.begin(reduce_scatter(messenger, values, shards), [] {});
    while (messenger.busy()) messenger.advance();
  }
}

}  // namespace

NcclConnection::NcclConnection(const heed_nccl_plugin& nccl) : nccl_(nccl) {
  check(nccl_.open(local_rank(), &connection_, error_.data()));
}

NcclConnection::~NcclConnection() {
  if (connection_ != nullptr) nccl_.close(connection_, 0);
}

std::string NcclConnection::make_ids() {
  std::string ids(HEED_NCCL_CHANNELS * HEED_NCCL_ID_BYTES, '\0');
  for (int channel = 0; channel < HEED_NCCL_CHANNELS; ++channel)
    check(nccl_.make_id(ids.data() + channel * HEED_NCCL_ID_BYTES, error_.data()));
  return ids;
}

void NcclConnection::connect(const std::string& ids, int rank, int size,
                             std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  for (int channel = 0; channel < HEED_NCCL_CHANNELS; ++channel) {
    check(nccl_.connect(connection_, channel, ids.data() + channel * HEED_NCCL_ID_BYTES, rank, size,
                        error_.data()));
    while (!done(channel)) {
      require(std::chrono::steady_clock::now() < end,
              "NCCL has not connected the ranks within {} s",
              std::chrono::duration_cast<std::chrono::seconds>(deadline).count());
      std::this_thread::sleep_for(kNcclPollInterval);
    }
  }
}

void NcclConnection::exchange(int channel, const heed_nccl_exchange& exchange) {
  check(nccl_.exchange(connection_, channel, &exchange, error_.data()));
}

bool NcclConnection::done(int channel) {
  int done = 0;
  check(nccl_.test(connection_, channel, &done, error_.data()));
  return done != 0;
}

void NcclConnection::finish() { nccl_.close(std::exchange(connection_, nullptr), 1); }

void NcclConnection::check(int code) const { require(code == 0, "NCCL: {}", error_.data()); }

template <typename Byte>
void NcclTransport::Direction<Byte>::begin() {
  if (waiting.empty()) return;
  under_way = waiting.front();
  waiting.pop_front();
}

template <typename Byte>
void NcclTransport::Direction<Byte>::end() {
  if (under_way) --under_way->message->parts;
  under_way.reset();
}

template <typename Byte>
Transport::Request NcclTransport::enqueue(Direction<Byte>& direction, int channel, int peer,
                                          std::span<Byte> bytes) {
  messages_.push_back(std::make_unique<Message>(Message{.channel = channel, .parts = 0}));
  Message& message = *messages_.back();
  for (; !bytes.empty(); ++message.parts) {
    const size_t count = std::min(bytes.size(), HEED_NCCL_MOST_BYTES);
    direction.waiting.push_back({&message, peer, bytes.first(count)});
    bytes = bytes.subspan(count);
  }
  return &message;
}

Transport::Request NcclTransport::send(int to, int tag, std::span<const std::byte> bytes) {
  if (bytes.size() < kLeastBytes) return base_.send(to, tag, bytes);
  const int channel = tag - kOperationTag;
  return enqueue(channels_.at(static_cast<size_t>(channel)).out, channel, to, bytes);
}

Transport::Request NcclTransport::receive(int from, int tag, std::span<std::byte> bytes) {
  if (bytes.size() < kLeastBytes) return base_.receive(from, tag, bytes);
  const int channel = tag - kOperationTag;
  return enqueue(channels_.at(static_cast<size_t>(channel)).in, channel, from, bytes);
}

/// Ends the exchange of a channel, if it is over, and begins the next one.
void NcclTransport::progress(int number) {
  Channel& channel = channels_[static_cast<size_t>(number)];
  if (channel.busy()) {
    if (!nccl_->done(number)) return;
    channel.out.end();
    channel.in.end();
  }
  channel.out.begin();
  channel.in.begin();
  if (!channel.busy()) return;
  heed_nccl_exchange exchange{};
  if (const auto& out = channel.out.under_way) {
    exchange.out = out->bytes.data();
    exchange.out_bytes = out->bytes.size();
    exchange.to = out->peer;
  }
  if (const auto& in = channel.in.under_way) {
    exchange.in = in->bytes.data();
    exchange.in_bytes = in->bytes.size();
    exchange.from = in->peer;
  }
  nccl_->exchange(number, exchange);
}

bool NcclTransport::done(Request& request) {
  const auto message = std::ranges::find(messages_, request, &std::unique_ptr<Message>::get);
  if (message == messages_.end()) return base_.done(request);
  progress((*message)->channel);
  if ((*message)->parts > 0) return false;
  messages_.erase(message);
  request = nullptr;
  return true;
}

void NcclTransport::finish() {
  nccl_->finish();
  base_.finish();
}

const heed_nccl_plugin& nccl_plugin() {
  return open_plugin<heed_nccl_plugin>({.name = "heed-nccl.so",
                                        .needed = "distributed.backend is nccl",
                                        .remedy = "compile it (docs/cluster.md)",
                                        .package = "libnccl2, from NVIDIA's repository"},
                                       "heed_open_nccl_plugin", HEED_NCCL_PLUGIN_VERSION);
}

void use_nccl(Group& group, std::chrono::milliseconds deadline,
              const std::function<const heed_nccl_plugin&()>& open) {
  std::string ids;
  auto nccl = propagate_errors(group, [&] {
    auto connection = std::make_unique<NcclConnection>(open());
    if (group.is_root()) ids = connection->make_ids();
    return connection;
  });
  group.broadcast(ids);
  propagate_errors(group, [&] {
    nccl->connect(ids, group.rank(), group.size(), deadline);
    return true;
  });
  auto used = group.run([&nccl](Messenger& messenger) {
    messenger.set_data_transport(
        std::make_unique<NcclTransport>(messenger.control_transport(), std::move(nccl)));
    connect_peers(messenger);
  });
  group.wait(used);
}

}  // namespace heed::distribute
