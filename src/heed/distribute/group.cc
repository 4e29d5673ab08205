#include "heed/distribute/group.h"

#include "heed/base/duration.h"

namespace heed::distribute {
namespace {

/// How often an idle group answers pings.
constexpr std::chrono::milliseconds kIdlePollInterval{2};
/// How often a caller that waits polls for a request to stop.
constexpr std::chrono::milliseconds kStopPollInterval{20};
/// How long a rank that ends with an error tries to tell the others.
constexpr std::chrono::seconds kAbortTimeout{2};
/// How much longer than rank 0 the others wait for the connection to end.
constexpr std::chrono::seconds kRootHeadStart{5};

}  // namespace

Group::Group(MakeTransport make_transport, Deadlines deadlines,
             std::function<bool()> stop_requested)
    : stop_requested_(std::move(stop_requested)), wait_(deadlines.wait) {
  std::promise<void> joined;
  thread_ = std::thread([&] { thread_main(make_transport, deadlines, joined); });
  try {
    joined.get_future().get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

Group::~Group() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    aborting_ = std::uncaught_exceptions() > exceptions_;
  }
  changed_.notify_one();
  const std::future<void> left = shutdown_->left.get_future();
  while (left.wait_for(kStopPollInterval) != std::future_status::ready) poll_stop_request();
  // When a rank ends without MPI_Finalize, Open MPI's mpirun ends the others and returns 1; MPICH's
  // ends them, too, and mostly returns 0. So rank 0, which has something to print, ends first.
  const auto patience = wait_ + (is_root() ? std::chrono::seconds(0) : kRootHeadStart);
  if (shutdown_->finished.get_future().wait_for(patience) == std::future_status::ready)
    thread_.join();
  else
    thread_.detach();
}

std::string Group::name_of(int rank) const { return names_[static_cast<size_t>(rank)]; }

/// The next operation that can begin; waits a little for one, and is null if there is none.
std::shared_ptr<Group::Operation> Group::next(const Messenger& messenger) {
  const bool busy = messenger.busy() && !failure_;
  MutexLock lock(mutex_);
  if (!busy && !closing_ && operations_.empty())
    changed_.wait_until(lock, Clock::now() + kIdlePollInterval);
  if (operations_.empty()) return nullptr;
  if (busy && (operations_.front()->call || messenger.full())) return nullptr;
  const std::shared_ptr<Operation> operation = std::move(operations_.front());
  operations_.pop_front();
  return operation;
}

void Group::thread_main(const MakeTransport& make_transport, Deadlines deadlines,
                        std::promise<void>& joined) {
  std::unique_ptr<Messenger> messenger;
  try {
    messenger = std::make_unique<Messenger>(make_transport(), deadlines, [this] {
      require(!aborting_, "the run ends");
      return stop_seen_.load();
    });
    rank_ = messenger->rank();
    size_ = messenger->size();
    names_.clear();
    for (int rank = 0; rank < size_; ++rank) names_.push_back(messenger->name_of(rank));
  } catch (...) {
    joined.set_exception(std::current_exception());
    return;
  }
  joined.set_value();
  const std::shared_ptr<Shutdown> shutdown = shutdown_;
  const bool finishes = progress_loop(*messenger);
  shutdown->left.set_value();
  // From here on the Group may be gone, so nobody can be told of an error.
  try {
    if (finishes) messenger->finish();
  } catch (...) {
  }
  shutdown->finished.set_value();
}

/// Runs `call`, unless something failed before. What it throws is the failure of all operations.
template <typename Call>
void Group::guarded(const Call& call) {
  try {
    if (!failure_) call();
  } catch (const ReportedElsewhere&) {
    failure_is_reported_ = true;
    failure_ = std::current_exception();
  } catch (...) {
    failure_ = std::current_exception();
  }
  if (!failure_) return;
  for (const auto& operation : begun_) operation->done.set_exception(failure_);
  begun_.clear();
}

/// Runs operations until the Group is destroyed. Returns whether to finish the connection.
bool Group::progress_loop(Messenger& messenger) {
  while (true) {
    if (const auto operation = next(messenger)) {
      begin(messenger, operation);
    } else if (messenger.busy() && !failure_) {
      guarded([&] { messenger.advance(); });
      measure(messenger);
    } else if (is_over()) {
      if (!aborting_) guarded([&] { messenger.leave(); });
      return !aborting_ && !failure_;
    } else {
      guarded([&] { messenger.answer(); });
    }
  }
}

void Group::begin(Messenger& messenger, const std::shared_ptr<Operation>& operation) {
  if (!measured_) measured_ = Clock::now();
  begun_.push_back(operation);
  guarded([&] {
    const auto on_complete = [this, &messenger, operation] {
      measure(messenger);
      begun_.remove(operation);
      operation->done.set_value();
    };
    if (operation->schedule) return messenger.begin(operation->schedule(messenger), on_complete);
    operation->call(messenger);
    on_complete();
  });
}

bool Group::is_over() {
  const MutexLock lock(mutex_);
  return closing_ && operations_.empty();
}

/// Adds the time and the bytes since the last call to traffic().
void Group::measure(const Messenger& messenger) {
  bytes_sent_ = messenger.bytes_sent();
  if (!measured_) return;
  const auto now = Clock::now();
  seconds_ = seconds_ + seconds_between(*measured_, now);
  measured_.reset();
  if (messenger.busy()) measured_ = now;
}

std::future<void> Group::enqueue(Operation operation) {
  auto added = std::make_shared<Operation>(std::move(operation));
  std::future<void> future = added->done.get_future();
  if (alone()) {
    added->done.set_value();
    return future;
  }
  {
    const MutexLock lock(mutex_);
    operations_.push_back(std::move(added));
  }
  changed_.notify_one();
  return future;
}

std::future<void> Group::run(std::function<void(Messenger&)> operation) {
  return enqueue({.call = std::move(operation)});
}

void Group::run_and_wait(std::function<void(Messenger&)> operation) {
  std::future<void> future = run(std::move(operation));
  wait(future);
}

void Group::wait(std::future<void>& operation) {
  const auto begin = Clock::now();
  while (operation.wait_for(kStopPollInterval) != std::future_status::ready) poll_stop_request();
  seconds_blocked_ += seconds_between(begin, Clock::now());
  operation.get();
}

void Group::poll_stop_request() {
  if (stop_requested_ && stop_requested_()) stop_seen_ = true;
}

void Group::report_failure() {
  if (alone()) return;
  // If another rank is in an operation that never completes, its deadline ends it instead.
  run([](Messenger& messenger) { messenger.report_failure(); }).wait_for(kAbortTimeout);
}

void Group::set_deadline(std::chrono::milliseconds wait) {
  wait_ = wait;
  run_and_wait([wait](Messenger& messenger) { messenger.set_deadline(wait); });
}

std::future<void> Group::reduce_scatter(std::span<float> values, Bounds shards,
                                        std::shared_ptr<const void> owner) {
  return enqueue({.schedule = [values, shards = std::move(shards),
                               owner = std::move(owner)](const Messenger& messenger) {
    return distribute::reduce_scatter(messenger, values, shards);
  }});
}

std::future<void> Group::all_gather(std::span<std::byte> values, Bounds shards,
                                    int64_t element_bytes, std::shared_ptr<const void> owner) {
  return run([values, shards = std::move(shards), element_bytes,
              owner = std::move(owner)](Messenger& messenger) {
    messenger.run(distribute::all_gather(messenger, values, shards, element_bytes));
  });
}

void Group::broadcast(std::string& bytes) {
  run_and_wait([&](Messenger& messenger) { distribute::broadcast(messenger, bytes); });
}

std::vector<double> Group::all_gather(std::span<const double> values) {
  std::vector<double> all(values.begin(), values.end());
  run_and_wait([&](Messenger& messenger) { all = distribute::all_gather(messenger, values); });
  return all;
}

std::string Group::exchange(int to, const std::string& out, int from) {
  std::string in;
  run_and_wait([&](Messenger& messenger) { in = distribute::exchange(messenger, to, out, from); });
  return in;
}

void Group::gather(std::span<const float> values, std::span<const int64_t> counts,
                   const std::function<void(int, std::span<const float>)>& take) {
  if (alone()) return take(0, values);
  run_and_wait([&](Messenger& messenger) { distribute::gather(messenger, values, counts, take); });
}

Group::Traffic Group::traffic() const {
  return {.seconds = seconds_, .seconds_blocked = seconds_blocked_, .bytes_sent = bytes_sent_};
}

}  // namespace heed::distribute
