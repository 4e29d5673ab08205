#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <thread>

#include "heed/base/mutex.h"
#include "heed/distribute/collectives.h"

namespace heed::distribute {

/// The process group of a run: one process, or several that exchange messages. A progress thread
/// owns all messages, so that they move while other threads compute. Operations begin in the order
/// of their calls, which must be the same on all ranks; reductions run concurrently, others one
/// after the other. Memory that is passed must stay until the future is ready: `owner`, if given,
/// is kept so long. Futures hold RankMissing, ReportedElsewhere or Error; after one of these, every
/// further operation fails with it.
class Group {
 public:
  using MakeTransport = std::function<std::unique_ptr<Transport>()>;

  /// One process: rank 0 of 1. Its operations do nothing.
  Group() = default;
  /// Joins the ranks that `make_transport` connects; it is called on the progress thread.
  /// `stop_requested` (see Messenger) is called by threads that wait for operations. Returns when
  /// all ranks have joined. Throws as Messenger and `make_transport` do.
  Group(
      MakeTransport make_transport, Deadlines deadlines,
      std::function<bool()> stop_requested = [] { return false; });
  /// A barrier, after which it ends the connection. After a failed operation, and while an
  /// exception is under way, it does neither: the process is to end, and with it the run. If the
  /// connection does not end within the deadline of a message, the progress thread is detached.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool alone() const { return size_ == 1; }
  bool is_root() const { return rank_ == 0; }
  /// "rank 3 (host b)".
  std::string name_of(int rank) const;

  /// See collectives.h.
  std::future<void> reduce_scatter(std::span<float> values, Bounds shards,
                                   std::shared_ptr<const void> owner = {});
  std::future<void> all_gather(std::span<std::byte> values, Bounds shards, int64_t element_bytes,
                               std::shared_ptr<const void> owner = {});
  /// Waits for an operation and throws what it threw.
  void wait(std::future<void>& operation);

  void broadcast(std::string& bytes);
  /// Waits for the numbers, of which there may be one that only serves as a barrier.
  std::vector<double> all_gather(std::span<const double> values);
  std::string exchange(int to, const std::string& out, int from);
  void gather(std::span<const float> values, std::span<const int64_t> counts,
              const std::function<void(int rank, std::span<const float> values)>& take);

  /// Runs an operation of the caller on the progress thread.
  std::future<void> run(std::function<void(Messenger&)> operation);
  /// Calls `stop_requested`, for an operation of run() that watches ranks.
  void poll_stop_request();

  /// Tells the other ranks that this one ends with an error, which it reports: their operations
  /// throw ReportedElsewhere from now on.
  void report_failure();
  /// Whether another rank reports, or has reported, an error that ends the run.
  bool failure_is_reported() const { return failure_is_reported_; }

  /// The deadline of messages from now on.
  void set_deadline(std::chrono::milliseconds wait);

  /// Totals of this rank since it joined.
  struct Traffic {
    double seconds = 0;          // in which operations were under way
    double seconds_blocked = 0;  // of them, in which a caller waited
    int64_t bytes_sent = 0;
  };
  /// Does not wait for operations.
  Traffic traffic() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Operation {
    // Either the schedule of one that runs concurrently, or a call that runs alone.
    std::function<CollectiveSchedule(const Messenger&)> schedule = {};
    std::function<void(Messenger&)> call = {};
    std::promise<void> done = {};
  };

  /// How far the progress thread, which may outlive the Group, has come with ending the connection.
  struct Shutdown {
    std::promise<void> left, finished;  // Messenger::leave(), Messenger::finish()
  };

  void run_and_wait(std::function<void(Messenger&)> operation);
  void thread_main(const MakeTransport& make_transport, Deadlines deadlines,
                   std::promise<void>& joined);
  bool progress_loop(Messenger& messenger);
  template <typename Call>
  void guarded(const Call& call);
  std::future<void> enqueue(Operation operation);
  std::shared_ptr<Operation> next(const Messenger& messenger);
  void begin(Messenger& messenger, const std::shared_ptr<Operation>& operation);
  bool is_over();
  void measure(const Messenger& messenger);

  int rank_ = 0, size_ = 1;
  std::vector<std::string> names_{"rank 0"};
  std::function<bool()> stop_requested_;
  std::chrono::milliseconds wait_{0};  // the deadline of a message
  const std::shared_ptr<Shutdown> shutdown_ = std::make_shared<Shutdown>();
  std::atomic<bool> stop_seen_ = false;  // by poll_stop_request()
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<std::shared_ptr<Operation>> operations_ HEED_GUARDED_BY(mutex_);  // not yet begun
  bool closing_ HEED_GUARDED_BY(mutex_) = false;
  std::atomic<bool> aborting_ = false;
  std::atomic<bool> failure_is_reported_ = false;
  std::atomic<double> seconds_ = 0;
  std::atomic<int64_t> bytes_sent_ = 0;
  double seconds_blocked_ = 0;
  // Of the progress thread alone:
  std::exception_ptr failure_;                   // the first
  std::list<std::shared_ptr<Operation>> begun_;  // and not ended
  std::optional<Clock::time_point> measured_;    // until when; none while no operation is under way
  int exceptions_ = std::uncaught_exceptions();
  std::thread thread_;
};

}  // namespace heed::distribute
