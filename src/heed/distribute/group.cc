#include "heed/distribute/group.h"

namespace heed::distribute {
namespace {

/// How often an idle group looks for questions of ranks that wait.
constexpr std::chrono::milliseconds kIdlePause{2};
/// How often a caller that waits looks whether the process was told to end.
constexpr std::chrono::milliseconds kPatience{20};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

Group::Group(MakeTransport make_transport, Deadlines deadlines, std::function<bool()> hurried)
    : hurried_(std::move(hurried)) {
  std::promise<void> joined;
  thread_ = std::thread([&] { serve(make_transport, deadlines, joined); });
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
    const std::lock_guard lock(mutex_);
    ends_ = true;
    gives_up_ = std::uncaught_exceptions() > exceptions_;
  }
  changed_.notify_one();
  thread_.join();
}

std::string Group::name_of(int rank) const { return names_[static_cast<size_t>(rank)]; }

/// Waits for an operation; false when there is none yet, and an empty one at the end.
bool Group::next(Operation& operation) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kIdlePause, [this] { return ends_ || !operations_.empty(); });
  if (operations_.empty()) return ends_;
  operation = std::move(operations_.front());
  operations_.pop_front();
  return true;
}

void Group::serve(const MakeTransport& make_transport, Deadlines deadlines,
                  std::promise<void>& joined) {
  std::unique_ptr<Messenger> messenger;
  try {
    messenger = std::make_unique<Messenger>(make_transport(), deadlines, [this] {
      require(!gives_up_, "the run ends");
      return hurries_.load();
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
  work(*messenger);
}

/// Runs `call`, unless something failed before; keeps what it throws.
template <typename Call>
void Group::guarded(const Call& call) {
  if (failure_) return;
  try {
    call();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void Group::work(Messenger& messenger) {
  while (true) {
    Operation operation;
    if (!next(operation)) {
      guarded([&] { messenger.answer(); });
    } else if (operation.valid()) {
      operation(messenger);
    } else {
      if (!gives_up_) guarded([&] { messenger.finish(); });
      return;
    }
  }
}

std::future<void> Group::run(std::function<void(Messenger&)> operation) {
  if (alone()) {
    std::promise<void> done;
    done.set_value();
    return done.get_future();
  }
  Operation task([this, operation = std::move(operation)](Messenger& messenger) {
    const auto begin = Clock::now();
    guarded([&] { operation(messenger); });
    seconds_ = seconds_ + seconds_since(begin);
    bytes_sent_ = messenger.bytes_sent();
    if (failure_) std::rethrow_exception(failure_);
  });
  std::future<void> future = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    operations_.push_back(std::move(task));
  }
  changed_.notify_one();
  return future;
}

void Group::run_now(std::function<void(Messenger&)> operation) {
  std::future<void> future = run(std::move(operation));
  wait(future);
}

void Group::wait(std::future<void>& operation) {
  const auto begin = Clock::now();
  while (operation.wait_for(kPatience) != std::future_status::ready) hurried();
  seconds_blocked_ += seconds_since(begin);
  operation.get();
}

bool Group::hurried() {
  if (hurried_ && hurried_()) hurries_ = true;
  return hurries_;
}

void Group::set_deadline(std::chrono::milliseconds wait) {
  run_now([wait](Messenger& messenger) { messenger.set_deadline(wait); });
}

std::future<void> Group::reduce_scatter(std::span<float> values, Bounds shards,
                                        std::shared_ptr<const void> owner) {
  return run([values, shards = std::move(shards), owner = std::move(owner)](Messenger& messenger) {
    distribute::reduce_scatter(messenger, values, shards);
  });
}

std::future<void> Group::all_gather(std::span<std::byte> values, Bounds shards,
                                    int64_t element_bytes, std::shared_ptr<const void> owner) {
  return run([values, shards = std::move(shards), element_bytes,
              owner = std::move(owner)](Messenger& messenger) {
    distribute::all_gather(messenger, values, shards, element_bytes);
  });
}

void Group::broadcast(std::string& bytes) {
  run_now([&](Messenger& messenger) { distribute::broadcast(messenger, bytes); });
}

std::vector<double> Group::gather(std::span<const double> values) {
  std::vector<double> all(values.begin(), values.end());
  run_now([&](Messenger& messenger) { all = distribute::gather(messenger, values); });
  return all;
}

void Group::collect(std::span<const float> values, std::span<const int64_t> counts,
                    const std::function<void(int, std::span<const float>)>& take) {
  if (alone()) return take(0, values);
  run_now([&](Messenger& messenger) { distribute::collect(messenger, values, counts, take); });
}

Group::Traffic Group::traffic() const {
  return {.seconds = seconds_, .seconds_blocked = seconds_blocked_, .bytes_sent = bytes_sent_};
}

}  // namespace heed::distribute
