#include "heed/distribute/messenger.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

namespace heed::distribute {
namespace {

constexpr size_t kHostBytes = 64;
/// A message of more bytes is sent in parts.
constexpr size_t kMaxMessageBytes = size_t{1} << 30;
/// Sleep between two polls once spinning has ended.
constexpr std::chrono::microseconds kPollInterval{50};
/// The longest time a rank spins: on busy processors, yielding to other processes takes time.
constexpr std::chrono::milliseconds kSpinTime{2};
/// Keep-alive messages that a waiting rank sends before the deadline.
constexpr int kKeepAlives = 12;
/// After a longer gap between two calls that look for messages, this process may have been stopped:
/// all ranks count as just heard of, and one that has ended with an error may have sent what it no
/// longer had.
constexpr std::chrono::milliseconds kStoppedGap{500};

/// How a missing rank is reported.
constexpr const char* kLate = "did not arrive within";
constexpr const char* kSilent = "does not answer any more";

template <typename Byte>
std::span<Byte> part_of(std::span<Byte> bytes, size_t part) {
  const size_t begin = std::min(part * kMaxMessageBytes, bytes.size());
  return bytes.subspan(begin, std::min(kMaxMessageBytes, bytes.size() - begin));
}

/// The rank that an exchange waits for.
int peer_of(const Exchange& exchange) { return exchange.in.empty() ? exchange.to : exchange.from; }

}  // namespace

Messenger::Messenger(std::unique_ptr<Transport> transport, Deadlines deadlines,
                     std::function<bool()> stop_requested)
    : transport_(std::move(transport)),
      deadlines_(deadlines),
      stop_requested_(std::move(stop_requested)) {
  const auto ranks = static_cast<size_t>(size());
  pongs_.resize(ranks);
  suspected_at_.resize(ranks);
  heard_at_.resize(ranks);
  hosts_.resize(ranks);
  receive_status();
  learn_hosts();
}

/// Gathers the host names at rank 0, which broadcasts them.
void Messenger::learn_hosts() {
  std::vector<std::array<char, kHostBytes>> names(hosts_.size());
  std::array<char, kHostBytes>& own = names[static_cast<size_t>(rank())];
  transport_->host().copy(own.data(), kHostBytes - 1);
  for (int other = 1; other < size(); ++other) {
    const auto bytes = std::as_writable_bytes(std::span(names[static_cast<size_t>(other)]));
    if (rank() == 0) exchange(other, {}, other, bytes);
    if (rank() == other) exchange(0, bytes, 0, {});
  }
  for (int other = 1; other < size(); ++other) {
    const auto bytes = std::as_writable_bytes(std::span(names));
    if (rank() == 0) exchange(other, bytes, other, {});
    if (rank() == other) exchange(0, {}, 0, bytes);
  }
  for (size_t i = 0; i < names.size(); ++i) hosts_[i] = names[i].data();
}

std::string Messenger::name_of(int rank) const {
  const std::string& host = hosts_[static_cast<size_t>(rank)];
  return host.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} (host {})", rank, host);
}

void Messenger::receive_status() {
  status_request_ = transport_->receive(Transport::kAnyRank, kStatusTag,
                                        std::as_writable_bytes(std::span(&incoming_status_, 1)));
}

void Messenger::send_status(int to, StatusKind kind) {
  if (kind == StatusKind::ping || kind == StatusKind::suspicion) ++unanswered_pings_;
  auto status = std::make_unique<Status>(Status{.rank = rank(), .kind = kind, .waits = waits_});
  const auto bytes = std::as_bytes(std::span(status.get(), 1));
  try {
    sending_.emplace_back(transport_->send(to, kStatusTag, bytes), std::move(status));
  } catch (const Error&) {  // the rank is lost, which a missing answer will show
  }
}

void Messenger::on_status(const Status& status) {
  const auto from = static_cast<size_t>(status.rank);
  heard_at_[from] = Clock::now();
  if (status.kind == StatusKind::leave) {
    ++ranks_leaving_;
    return;
  }
  if (status.kind == StatusKind::abort)
    throw ReportedElsewhere(fmt::format("{} has ended with an error", name_of(status.rank)));
  if (status.kind == StatusKind::pong) {
    --unanswered_pings_;
    pongs_[from] = status;
    return;
  }
  if (status.kind == StatusKind::suspicion) suspected_at_[from] = Clock::now();
  send_status(status.rank, StatusKind::pong);
}

void Messenger::answer() {
  answered_at_ = Clock::now();
  while (transport_->done(status_request_)) {
    const Status status = incoming_status_;
    receive_status();
    on_status(status);
  }
  std::erase_if(sending_, [this](auto& message) {
    try {
      return transport_->done(message.first);
    } catch (const Error&) {  // as in send_status()
      return true;
    }
  });
}

std::optional<Mailbox::Message> Messenger::try_receive() {
  std::optional<Mailbox::Message> message = mailbox_.try_receive();
  if (message) heard_at_[static_cast<size_t>(message->from)] = Clock::now();
  return message;
}

bool Messenger::watch(std::span<const int> ranks) {
  const auto now = Clock::now();
  if (now - watched_at_ > kStoppedGap) std::fill(heard_at_.begin(), heard_at_.end(), now);
  watched_at_ = now;
  waits_ = true;
  const bool newly_requested = !stop_requested_at_ && stop_requested_();
  if (newly_requested) stop_requested_at_ = now;
  if (newly_requested || now - pinged_at_ > deadlines_.wait / 4) {
    pinged_at_ = now;
    for (const int rank : ranks) send_status(rank, StatusKind::ping);
  }
  bool all_alive = stop_requested_at_.has_value();
  // Launchers kill what does not end about a second after their signal; detect_missing_rank() takes
  // time.
  const auto patience = deadlines_.answer / (this->rank() == 0 ? 4 : 8);
  for (const int rank : ranks) {
    const auto heard_at = heard_at_[static_cast<size_t>(rank)];
    if (now - heard_at > deadlines_.wait) report_silent(rank, true);
    if (!stop_requested_at_ || heard_at >= *stop_requested_at_) continue;
    all_alive = false;
    if (now - *stop_requested_at_ > patience) report_silent(rank, false);
  }
  return all_alive;
}

/// Reports a watched rank that is silent. Rank 0 is the lowest rank that can, and need not look for
/// a lower one.
void Messenger::report_silent(int silent, bool deadline) {
  if (rank() == 0) report_missing(missing_message(silent, deadline), silent);
  detect_missing_rank(silent, deadline);
}

/// A missing rank may only have been stopped: when it goes on, it must not use messages that this
/// rank was sending to it and no longer has.
void Messenger::report_missing(const std::string& message, int missing) {
  send_abort();
  throw RankMissing(message, missing);
}

void Messenger::send_abort() {
  for (int other = 0; other < size(); ++other)
    if (other != rank()) send_status(other, StatusKind::abort);
}

void Messenger::report_failure() {
  send_abort();
  const auto begin = Clock::now();
  for (answer(); !sending_.empty() && Clock::now() - begin < deadlines_.answer; answer())
    std::this_thread::sleep_for(kPollInterval);
}

void Messenger::leave() {
  const bool is_root = rank() == 0;
  std::vector<int> others(is_root ? hosts_.size() - 1 : 1);
  std::iota(others.begin(), others.end(), is_root ? 1 : 0);
  const auto wait_until = [&](const auto& condition) {
    for (answer(); !condition(); answer()) {
      watch(others);
      std::this_thread::sleep_for(kPollInterval);
    }
  };
  const auto announce = [&] {
    for (const int other : others) send_status(other, StatusKind::leave);
  };
  if (!is_root) announce();
  wait_until([&] { return ranks_leaving_ == std::ssize(others); });
  if (is_root) announce();
  wait_until([&] { return sending_.empty() && mailbox_.progress(); });
}

void Messenger::finish() {
  mailbox_.close();
  transport_->cancel(status_request_);
  data_transport().finish();
}

void Messenger::set_data_transport(std::unique_ptr<Transport> transport) {
  require(!busy(), "the transport of operations is changed while one is under way");
  data_transport_ = std::move(transport);
}

void Messenger::run(CollectiveSchedule schedule) {
  require(!busy(), "an operation of ranks is run while another is under way");
  start(std::move(schedule), kOperationTag, [] {});
  while (busy()) advance();
}

void Messenger::exchange(int to, std::span<const std::byte> out, int from,
                         std::span<std::byte> in) {
  run({{.exchange = {to, out, from, in}}});
}

void Messenger::begin(CollectiveSchedule schedule, std::function<void()> on_complete) {
  // The last operation with this tag is complete, so messages of the two do not mix.
  const int tag =
      kOperationTag + 1 + static_cast<int>(begun_++ % static_cast<int64_t>(kMaxConcurrent));
  start(std::move(schedule), tag, std::move(on_complete));
}

void Messenger::start(CollectiveSchedule schedule, int tag, std::function<void()> on_complete) {
  if (schedule.empty()) return on_complete();
  if (!busy()) wait_ = {};
  waits_ = true;
  operations_.push_back(
      {.schedule = std::move(schedule), .on_complete = std::move(on_complete), .tag = tag});
  post_round(operations_.back());
}

/// Calls `call`, which sends a message to `peer` or receives one. If it throws because a rank is
/// lost, throws RankMissing or ReportedElsewhere instead.
template <typename Call>
auto Messenger::with_failure_detection(int peer, const Call& call) {
  try {
    return call();
  } catch (const Error&) {
    detect_missing_rank(peer, false);
    throw;
  }
}

/// Begins to send and to receive the messages of an operation's round.
void Messenger::post_round(Operation& operation) {
  const Exchange& exchange = operation.exchange();
  const size_t bytes = std::max(exchange.out.size(), exchange.in.size());
  for (size_t part = 0; part * kMaxMessageBytes < bytes; ++part) {
    if (const auto in = part_of(exchange.in, part); !in.empty())
      operation.requests.push_back(with_failure_detection(exchange.from, [&] {
        return data_transport().receive(exchange.from, operation.tag, in);
      }));
    if (const auto out = part_of(exchange.out, part); !out.empty())
      operation.requests.push_back(with_failure_detection(
          exchange.to, [&] { return data_transport().send(exchange.to, operation.tag, out); }));
  }
}

/// Ends the round of an operation, if all its messages have arrived, and begins the next one.
/// Returns whether the round has ended.
bool Messenger::progress(Operation& operation) {
  if (operation.complete) return false;
  const Round& round = operation.schedule[operation.round];
  with_failure_detection(peer_of(round.exchange), [&] {
    return std::erase_if(operation.requests, [this](Transport::Request& request) {
      return data_transport().done(request);
    });
  });
  if (!operation.requests.empty()) return false;
  if (Clock::now() - answered_at_ > kStoppedGap) answer();
  bytes_sent_ += static_cast<int64_t>(round.exchange.out.size());
  if (round.then) round.then();
  if (++operation.round < operation.schedule.size()) {
    post_round(operation);
  } else {
    const auto on_complete = std::move(operation.on_complete);
    operation = {.complete = true};
    on_complete();
  }
  return true;
}

bool Messenger::progress_all() {
  bool any = false;
  for (Operation& operation : operations_) any |= progress(operation);
  while (busy() && operations_.front().complete) operations_.pop_front();
  if (any) wait_ = {};
  if (!busy()) waits_ = false;
  return any;
}

/// Pings the ranks with which messages are under way, so that both sides send. A TCP connection
/// that could not send for some seconds tries again after up to a minute, but at once when it gets
/// more to send.
void Messenger::send_keep_alives() {
  std::set<int> peers;
  for (const Operation& operation : operations_) {
    if (operation.complete) continue;
    const Exchange& exchange = operation.exchange();
    if (!exchange.out.empty()) peers.insert(exchange.to);
    if (!exchange.in.empty()) peers.insert(exchange.from);
  }
  for (const int peer : peers) send_status(peer, StatusKind::ping);
  kept_alive_at_ = Clock::now();
}

void Messenger::advance() {
  if (progress_all() || ++wait_.polls <= kEagerPolls) return;
  const auto waited = Clock::now() - wait_.begin;
  if (wait_.polls < spin_polls_ && waited < kSpinTime) return std::this_thread::yield();
  answer();
  const auto interval = deadlines_.wait / kKeepAlives;
  if (waited > interval && Clock::now() - kept_alive_at_ > interval) send_keep_alives();
  const int awaited = peer_of(operations_.front().exchange());
  if (waited > deadlines_.wait) detect_missing_rank(awaited, true);
  if (stop_requested_() && !wait_.searched) {
    wait_.searched = true;
    detect_missing_rank(awaited, false, [this] { return progress_all(); });
  }
  std::this_thread::sleep_for(kPollInterval);
}

std::string Messenger::missing_message(int missing, bool deadline) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(deadlines_.wait).count();
  return deadline ? fmt::format("{} {} {} s", name_of(missing), kLate, seconds)
                  : fmt::format("{} {}", name_of(missing), kSilent);
}

/// The failure detector: pings all ranks and throws if one is missing. `deadline`: that of a
/// message has passed, and a rank that answers may be missing, too. Otherwise only a rank that does
/// not answer is, unless what this rank waits for has `arrived`: its sender may have ended since.
void Messenger::detect_missing_rank(int peer, bool deadline, const std::function<bool()>& arrived) {
  std::fill(pongs_.begin(), pongs_.end(), std::nullopt);
  pongs_[static_cast<size_t>(rank())] = Status{.rank = rank(), .waits = 1};
  for (int other = 0; other < size(); ++other)
    if (other != rank()) send_status(other, StatusKind::suspicion);
  const auto begin = Clock::now();
  const auto patience = deadline ? deadlines_.answer : deadlines_.answer / 4;
  const auto first_silent = [this] {
    return std::find(pongs_.begin(), pongs_.end(), std::nullopt);
  };
  const auto all_answered = [&] { return first_silent() == pongs_.end(); };
  // After the deadline it waits even if all have answered: a lower rank may detect this, too.
  while (Clock::now() - begin < patience && (deadline || !all_answered())) {
    answer();
    if (!deadline && arrived()) return;
    std::this_thread::sleep_for(kPollInterval);
  }
  if (!deadline && all_answered()) return;
  int missing = peer;
  if (!all_answered()) {
    missing = static_cast<int>(first_silent() - pongs_.begin());
  } else {
    // All are alive. One that waits for nobody has not begun the operation.
    for (const std::optional<Status>& status : pongs_)
      if (!status->waits) missing = status->rank;
  }
  const std::string message = missing_message(missing, deadline);
  // A lower rank that has just detected this reports it, or has done so and ended.
  for (int lower = 0; lower < rank(); ++lower)
    if (Clock::now() - suspected_at_[static_cast<size_t>(lower)] <
        2 * deadlines_.answer + kTimeToReport)
      throw ReportedElsewhere(message);
  report_missing(message, missing);
}

}  // namespace heed::distribute

bool heed::says_rank_missing(std::string_view error) {
  return error.find(distribute::kLate) != error.npos ||
         error.find(distribute::kSilent) != error.npos;
}
