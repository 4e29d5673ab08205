#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/distribute/collective_schedule.h"
#include "heed/distribute/mailbox.h"
#include "heed/distribute/transport.h"
#include "heed/ranks.h"

namespace heed::distribute {

/// A rank did not take part in an operation in time. what() names it and its host. Where a lower
/// rank reports the same, ReportedElsewhere is thrown in its place.
class RankMissing : public Error {
 public:
  explicit RankMissing(const std::string& message, int rank = -1) : Error(message), rank_(rank) {}
  /// The missing one; -1 if only the message says it.
  int rank() const { return rank_; }

 private:
  int rank_;
};

/// How long a rank that leaves the report of an error to another one waits before it ends.
constexpr std::chrono::seconds kTimeToReport{5};

struct Deadlines {
  std::chrono::milliseconds wait{60'000};   // for a message
  std::chrono::milliseconds answer{2'000};  // to a ping of the failure detector
};

/// Sends and receives whole messages within deadlines. When a rank waits in vain, it pings all
/// others and finds out which one is missing: not the one it waits for, which may wait for a third,
/// but the one that does not answer, or waits for nobody. One thread uses it.
class Messenger {
 public:
  /// Operations under way at once.
  static constexpr size_t kMaxConcurrent = kOperationTags - 1;

  /// `stop_requested` is called while a message is waited for: once it returns true, for example
  /// because of a signal, a missing rank is looked for at once. What it throws ends the wait.
  /// Collective: every rank constructs its own.
  Messenger(
      std::unique_ptr<Transport> transport, Deadlines deadlines,
      std::function<bool()> stop_requested = [] { return false; });
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  /// "rank 3 (host b)".
  std::string name_of(int rank) const;

  /// Runs an operation while no other is under way. Throws RankMissing or ReportedElsewhere, and
  /// what the operation throws.
  void run(CollectiveSchedule schedule);
  /// An operation of one round.
  void exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in);

  /// Begins an operation, which makes progress while advance() is called; `on_complete` is called
  /// after its last round. All ranks begin the same ones in the same order. Several are under way
  /// at once, so that a link is busy while a rank adds, or waits for one that is late.
  void begin(CollectiveSchedule schedule, std::function<void()> on_complete);
  /// Whether no operation can be begun before an older one is complete.
  bool full() const { return operations_.size() >= kMaxConcurrent; }
  bool busy() const { return !operations_.empty(); }
  /// Polls the messages of the operations under way. Sleeps a little if none has arrived for some
  /// time. Throws as run() does.
  void advance();

  /// From now on operations use `transport`, which may pass messages on to control_transport();
  /// statuses and mail stay there. No operation is under way. Collective.
  void set_data_transport(std::unique_ptr<Transport> transport);
  Transport& control_transport() { return *transport_; }

  /// Answers the pings of other ranks. To be called between operations about every millisecond.
  void answer();

  /// Messages outside of operations; see Mailbox. The receiver must call answer() or try_receive()
  /// often while one is sent.
  void send(int to, std::string bytes) { mailbox_.send(to, std::move(bytes)); }
  std::optional<Mailbox::Message> try_receive();
  /// To be called often while mail of `ranks` is expected. Throws RankMissing or ReportedElsewhere
  /// when one of them has not been heard of for as long as the deadline of a message, though it was
  /// pinged, or, once a stop is requested, does not answer at once. Returns whether a stop is
  /// requested and all of them are alive.
  bool watch(std::span<const int> ranks);
  /// Whether all mail has been sent and all pings are answered.
  bool flushed() { return mailbox_.progress() && unanswered_pings_ == 0; }
  bool stop_requested() const { return stop_requested_(); }
  /// How often advance() polls before it sleeps between polls, which takes longer than a message on
  /// one host. For ranks that wait for each other all the time.
  void set_spin_polls(int polls) { spin_polls_ = polls; }
  void set_deadline(std::chrono::milliseconds wait) { deadlines_.wait = wait; }
  /// Tells all other ranks that this one ends with an error, which it reports: they throw
  /// ReportedElsewhere from now on. Waits for them no longer than for an answer.
  void report_failure();
  /// A barrier, to be called before finish(): waits until all ranks have called it, however long
  /// one works. Throws as watch() does when one is lost. Collective.
  void leave();
  /// Ends the connection; see Transport::finish(). Does not call `stop_requested`.
  void finish();
  /// Bytes that operations have sent.
  int64_t bytes_sent() const { return bytes_sent_; }

 private:
  /// Polls without yielding for messages that follow each other at once: on one host a message
  /// takes some microseconds.
  static constexpr int kEagerPolls = 200;

  enum class StatusKind : int32_t {
    pong,
    ping,
    suspicion,  // a ping of a rank that will report the one that is missing
    leave,      // no more work: of each rank to rank 0, then of rank 0 to all
    abort       // the sender ends with an error, which it reports
  };
  struct Status {
    int32_t rank = 0;
    StatusKind kind = StatusKind::pong;
    int32_t waits = 0;  // 1: the sender waits for a message, 0: it does not
  };
  using Clock = std::chrono::steady_clock;
  struct Operation {
    CollectiveSchedule schedule = {};
    std::function<void()> on_complete = {};
    int tag = 0;
    size_t round = 0;
    std::vector<Transport::Request> requests = {};  // of the round
    bool complete = false;

    const Exchange& exchange() const { return schedule[round].exchange; }
  };
  /// The time since operations last made progress.
  struct Wait {
    Clock::time_point begin = Clock::now();
    int polls = 0;
    bool searched = false;  // for a missing rank, after a request to stop
  };

  void receive_status();
  void send_status(int to, StatusKind kind);
  void on_status(const Status& status);
  void start(CollectiveSchedule schedule, int tag, std::function<void()> on_complete);
  template <typename Call>
  auto with_failure_detection(int peer, const Call& call);
  void post_round(Operation& operation);
  bool progress(Operation& operation);
  bool progress_all();
  void send_keep_alives();
  void detect_missing_rank(
      int peer, bool deadline, const std::function<bool()>& arrived = [] { return false; });
  void report_silent(int silent, bool deadline);
  [[noreturn]] void report_missing(const std::string& message, int missing);
  void send_abort();
  std::string missing_message(int missing, bool deadline) const;
  void learn_hosts();

  /// The transport of operations.
  Transport& data_transport() { return data_transport_ ? *data_transport_ : *transport_; }

  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Transport> data_transport_;  // see set_data_transport()
  Mailbox mailbox_{*transport_};
  Deadlines deadlines_;
  std::function<bool()> stop_requested_;
  std::vector<std::string> hosts_;
  std::deque<Operation> operations_;  // under way, the oldest first
  int64_t begun_ = 0;
  Wait wait_;
  bool waits_ = false;  // for a message
  int spin_polls_ = kEagerPolls;
  Status incoming_status_;
  Transport::Request status_request_ = nullptr;
  std::vector<std::pair<Transport::Request, std::unique_ptr<Status>>> sending_;
  int unanswered_pings_ = 0;
  int ranks_leaving_ = 0;  // see leave()
  // By rank:
  std::vector<std::optional<Status>> pongs_;            // since detect_missing_rank() has begun
  std::vector<Clock::time_point> suspected_at_;         // when each last sent StatusKind::suspicion
  std::vector<Clock::time_point> heard_at_;             // see watch()
  Clock::time_point watched_at_, pinged_at_;            // by watch()
  Clock::time_point answered_at_;                       // by answer()
  Clock::time_point kept_alive_at_;                     // by send_keep_alives()
  std::optional<Clock::time_point> stop_requested_at_;  // when watch() has seen it
  int64_t bytes_sent_ = 0;
};

}  // namespace heed::distribute
