#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "heed/distribute/nccl_plugin.h"

namespace heed::distribute {

/// A double of the plug-in for NCCL whose ranks are threads. As strict as NCCL: an exchange is over
/// only when the other ranks have begun theirs, two ranks match what they exchange on a channel by
/// its order, and a channel has one exchange under way. One object at a time.
class FakeNccl {
 public:
  FakeNccl() { current_ = this; }
  ~FakeNccl() { current_ = nullptr; }
  FakeNccl(const FakeNccl&) = delete;
  FakeNccl& operator=(const FakeNccl&) = delete;

  const heed_nccl_plugin& plugin() const { return plugin_; }

  /// Fails the exchanges of a rank from now on.
  void fail_exchanges_of(int rank) {
    const std::lock_guard lock(mutex_);
    failing_ = rank;
  }
  /// Never connects; before the ranks start.
  void stall() { stalls_ = true; }

  int64_t bytes = 0;               // that all ranks have sent
  size_t most_at_once = 0;         // channels of a rank with an exchange under way
  std::set<int> local_ranks;       // of open()
  int finished = 0, given_up = 0;  // connections

 private:
  struct Exchange {
    heed_nccl_exchange what{};
    bool sent = true, received = true;

    bool over() const { return sent && received; }
  };
  struct Rank {
    int rank = -1;
    std::array<Exchange, HEED_NCCL_CHANNELS> exchanges{};
  };
  /// Channel, sender, receiver.
  using Way = std::tuple<int, int, int>;

  static int report(char* error, const char* what) {
    std::snprintf(error, HEED_NCCL_ERROR_BYTES, "%s", what);
    return 1;
  }

  static int open(int local_rank, void** connection, char*) {
    const std::lock_guard lock(current_->mutex_);
    current_->local_ranks.insert(local_rank);
    *connection = new Rank;
    return 0;
  }

  static int make_id(void* id, char*) {
    const std::lock_guard lock(current_->mutex_);
    std::memset(id, ++current_->ids_, HEED_NCCL_ID_BYTES);
    return 0;
  }

  static int connect(void* connection, int channel, const void* id, int rank, int, char* error) {
    auto* own = static_cast<Rank*>(connection);
    own->rank = rank;
    const bool right = *static_cast<const char*>(id) == channel + 1;
    return right ? 0 : report(error, "the id of another channel");
  }

  static int exchange(void* connection, int channel, const heed_nccl_exchange* begun, char* error) {
    const std::lock_guard lock(current_->mutex_);
    auto* own = static_cast<Rank*>(connection);
    Exchange& exchange = own->exchanges.at(static_cast<size_t>(channel));
    if (own->rank == current_->failing_) return report(error, "the network is down");
    if (!exchange.over()) return report(error, "an exchange is under way");
    if (begun->out_bytes > HEED_NCCL_MOST_BYTES || begun->in_bytes > HEED_NCCL_MOST_BYTES)
      return report(error, "too many bytes");
    exchange = {*begun, begun->out_bytes == 0, begun->in_bytes == 0};
    if (!exchange.sent) {
      current_->ways_[{channel, own->rank, begun->to}].push_back(&exchange);
      current_->bytes += static_cast<int64_t>(begun->out_bytes);
    }
    const auto busy = std::ranges::count(own->exchanges, false, &Exchange::over);
    current_->most_at_once = std::max(current_->most_at_once, static_cast<size_t>(busy));
    return 0;
  }

  static int test(void* connection, int channel, int* done, char* error) {
    const std::lock_guard lock(current_->mutex_);
    auto* own = static_cast<Rank*>(connection);
    Exchange& exchange = own->exchanges.at(static_cast<size_t>(channel));
    auto& senders = current_->ways_[{channel, exchange.what.from, own->rank}];
    if (!exchange.received && !senders.empty()) {
      Exchange& sender = *senders.front();
      if (sender.what.out_bytes != exchange.what.in_bytes)
        return report(error, "the ranks exchange different numbers of bytes");
      std::memcpy(exchange.what.in, sender.what.out, sender.what.out_bytes);
      sender.sent = exchange.received = true;
      senders.pop_front();
    }
    *done = exchange.over() && !current_->stalls_;
    return 0;
  }

  static void close(void* connection, int finished) {
    const std::lock_guard lock(current_->mutex_);
    ++(finished ? current_->finished : current_->given_up);
    // What a rank that gives up has begun never ends.
    const auto* own = static_cast<Rank*>(connection);
    for (auto& [way, senders] : current_->ways_)
      if (std::get<1>(way) == own->rank) senders.clear();
    delete own;
  }

  static constexpr heed_nccl_plugin plugin_{.version = HEED_NCCL_PLUGIN_VERSION,
                                            .open = open,
                                            .make_id = make_id,
                                            .connect = connect,
                                            .exchange = exchange,
                                            .test = test,
                                            .close = close};
  static inline FakeNccl* current_ = nullptr;

  std::mutex mutex_;
  std::map<Way, std::deque<Exchange*>> ways_;  // what is sent and not yet received
  int ids_ = 0;
  int failing_ = -1;
  bool stalls_ = false;
};

}  // namespace heed::distribute
