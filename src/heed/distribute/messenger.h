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
#include "heed/distribute/mailbox.h"
#include "heed/distribute/rounds.h"
#include "heed/distribute/tags.h"
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

/// How long a rank that leaves an error to another waits for that to report it.
constexpr std::chrono::seconds kTimeToReport{5};

struct Deadlines {
  std::chrono::milliseconds wait{60'000};   // for a message
  std::chrono::milliseconds answer{2'000};  // to the question who is there
};

/// Sends and receives whole messages within deadlines. When a rank waits in vain, it asks all
/// others what they do, and finds out which one is missing: not the one it waits for, which may
/// wait for a third, but the one that does not answer, or waits for nobody. One thread uses it.
class Messenger {
 public:
  /// Operations under way at once.
  static constexpr size_t kAtOnce = kOperationTags - 1;

  /// `hurried` is asked while a message is waited for: once it returns true, for example because
  /// the process was told to end, a missing rank is looked for at once. What it throws ends the
  /// wait. Collective: every rank constructs its own.
  Messenger(
      std::unique_ptr<Transport> transport, Deadlines deadlines,
      std::function<bool()> hurried = [] { return false; });
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  /// "rank 3 (host b)".
  std::string name_of(int rank) const;

  /// Runs an operation while no other is under way. Throws RankMissing or ReportedElsewhere, and
  /// what the operation throws.
  void run(Rounds rounds);
  /// An operation of one round.
  void exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in);

  /// Begins an operation, which moves while advance() is called; `ended` is called after its last
  /// round. All ranks begin the same ones in the same order. Several are under way at once, so that
  /// a link is busy while a rank adds, or waits for one that is late.
  void begin(Rounds rounds, std::function<void()> ended);
  /// Whether no operation can be begun before an older one has ended.
  bool full() const { return operations_.size() >= kAtOnce; }
  bool busy() const { return !operations_.empty(); }
  /// Looks for messages of the operations under way. Sleeps a little if it has found none for some
  /// time. Throws as run() does.
  void advance();

  /// From now on operations use `transport`, which may pass messages on to control(); questions and
  /// letters stay there. No operation is under way. Collective.
  void send_operations_by(std::unique_ptr<Transport> transport);
  Transport& control() { return *transport_; }

  /// To be called between operations about every millisecond: answers the questions of ranks that
  /// wait.
  void answer();

  /// Messages that nobody waits for; see Mailbox. A letter must be answered or taken while it is
  /// sent: a rank calls answer() or take() often.
  void post(int to, std::string bytes) { letters_.post(to, std::move(bytes)); }
  std::optional<Mailbox::Message> take();
  /// To be called often while letters of `ranks` are expected. Throws RankMissing or
  /// ReportedElsewhere when one of them has not been heard of for as long as the deadline of a
  /// message, though it was asked, or, once `hurried`, does not answer at once. Returns whether the
  /// process is hurried and all of them live.
  bool watch(std::span<const int> ranks);
  /// Whether all letters have been sent and all questions answered.
  bool settled() { return letters_.deliver() && open_questions_ == 0; }
  bool hurried() const { return hurried_(); }
  /// How often advance() looks for a message before it sleeps between looks, which takes longer
  /// than a message on one host. For ranks that wait for each other all the time.
  void set_looks(int looks) { looks_ = looks; }
  void set_deadline(std::chrono::milliseconds wait) { deadlines_.wait = wait; }
  /// Tells all other ranks that this one ends with an error, which it reports: they throw
  /// ReportedElsewhere from now on. Waits for them no longer than for an answer.
  void report_failure();
  /// To be called before finish(). Waits until all ranks have called it, however long one works,
  /// and throws as watch() does when one is lost. Collective.
  void leave();
  /// Ends the connection; see Transport::finish(). Does not ask `hurried`.
  void finish();
  /// Bytes that operations have sent.
  int64_t bytes_sent() const { return bytes_sent_; }

 private:
  /// Looks at messages under way that follow each other at once: on one host a message takes some
  /// microseconds.
  static constexpr int kEagerLooks = 200;

  enum class Question : int32_t {
    none,        // an answer
    lives,       // whether a rank lives
    is_missing,  // the same, from a rank that will report the one that is missing
    leaves,      // none either: to rank 0 of one that has no more work, and of rank 0 of all
    fails        // nor this: of a rank that ends with an error
  };
  /// A question, an answer or a goodbye.
  struct Status {
    int32_t rank = 0;
    Question asks = Question::none;
    int32_t waits = 0;  // 1: for a message, 0: for none
  };
  using Clock = std::chrono::steady_clock;
  struct Operation {
    Rounds rounds = {};
    std::function<void()> ended = {};
    int tag = 0;
    size_t round = 0;
    std::vector<Transport::Request> requests = {};  // of the round
    bool over = false;
  };
  /// Since the last message of an operation.
  struct Wait {
    Clock::time_point begin = Clock::now();
    int looks = 0;
    bool hurried = false;
  };

  void listen();
  void send_status(int to, Question asks);
  void on_status(const Status& status);
  void start(Rounds rounds, int tag, std::function<void()> ended);
  template <typename Call>
  auto moving_with(int peer, const Call& call);
  void post(Operation& operation);
  bool move(Operation& operation);
  bool move_all();
  int awaited_rank() const;
  void probe();
  void find_missing(
      int peer, bool deadline, const std::function<bool()>& arrived = [] { return false; });
  void declare_dead(int silent, bool deadline);
  std::string missing_message(int missing, bool deadline) const;
  void learn_hosts();

  /// The transport of operations.
  Transport& data() { return data_ ? *data_ : *transport_; }

  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Transport> data_;  // see send_operations_by()
  Mailbox letters_{*transport_};
  Deadlines deadlines_;
  std::function<bool()> hurried_;
  std::vector<std::string> hosts_;
  std::deque<Operation> operations_;  // from the oldest that is under way
  int64_t begun_ = 0;
  Wait wait_;
  bool waits_ = false;  // for a message
  int looks_ = kEagerLooks;
  Status heard_;
  Transport::Request listening_ = nullptr;
  std::vector<std::pair<Transport::Request, std::unique_ptr<Status>>> sending_;
  int open_questions_ = 0;
  int leaving_ = 0;                              // ranks that have said so; see leave()
  std::vector<Status> answers_;                  // to the question of find_missing()
  std::vector<bool> answered_;                   // by rank
  std::vector<Clock::time_point> asked_;         // when each rank has last looked for a missing one
  std::vector<Clock::time_point> heard_at_;      // by rank; see watch()
  Clock::time_point watched_, questioned_;       // the last watch(), and its last questions
  Clock::time_point probed_;                     // the last probe()
  std::optional<Clock::time_point> hurried_at_;  // when watch() has seen it
  int64_t bytes_sent_ = 0;
};

}  // namespace heed::distribute
