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
constexpr size_t kLargestMessage = size_t{1} << 30;
/// Between looks at messages under way, after the first ones.
constexpr std::chrono::microseconds kPause{50};
/// How long a rank looks without sleeping: where processors are busy, yielding to others takes
/// time.
constexpr std::chrono::milliseconds kLooking{2};
/// How many probes a rank that waits sends before the deadline.
constexpr int kProbes = 12;
/// A watch that was interrupted for longer begins anew: the process may have been stopped.
constexpr std::chrono::milliseconds kWatchGap{500};

/// How a missing rank is reported.
constexpr const char* kLate = "did not arrive within";
constexpr const char* kSilent = "does not answer any more";

template <typename Byte>
std::span<Byte> part_of(std::span<Byte> bytes, size_t part) {
  const size_t begin = std::min(part * kLargestMessage, bytes.size());
  return bytes.subspan(begin, std::min(kLargestMessage, bytes.size() - begin));
}

/// The rank that is waited for.
int peer_of(const Exchange& exchange) { return exchange.in.empty() ? exchange.to : exchange.from; }

}  // namespace

Messenger::Messenger(std::unique_ptr<Transport> transport, Deadlines deadlines,
                     std::function<bool()> hurried)
    : transport_(std::move(transport)), deadlines_(deadlines), hurried_(std::move(hurried)) {
  answers_.resize(static_cast<size_t>(size()));
  answered_.resize(answers_.size());
  asked_.resize(answers_.size());
  heard_at_.resize(answers_.size());
  hosts_.assign(answers_.size(), "");
  listen();
  learn_hosts();
}

/// Every rank tells rank 0 its host, which tells all.
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

void Messenger::listen() {
  listening_ = transport_->receive(Transport::kAnyRank, kStatusTag,
                                   std::as_writable_bytes(std::span(&heard_, 1)));
}

void Messenger::send_status(int to, Question asks) {
  if (asks == Question::lives || asks == Question::is_missing) ++open_questions_;
  auto status = std::make_unique<Status>(Status{.rank = rank(), .asks = asks, .waits = waits_});
  const auto bytes = std::as_bytes(std::span(status.get(), 1));
  try {
    sending_.emplace_back(transport_->send(to, kStatusTag, bytes), std::move(status));
  } catch (const Error&) {  // the rank is lost, and will be missing where an answer is expected
  }
}

void Messenger::on_status(const Status& status) {
  const auto from = static_cast<size_t>(status.rank);
  heard_at_[from] = Clock::now();
  if (status.asks == Question::leaves) {
    ++leaving_;
    return;
  }
  if (status.asks == Question::fails)
    throw ReportedElsewhere(fmt::format("{} has ended with an error", name_of(status.rank)));
  if (status.asks == Question::none) {
    --open_questions_;
    answers_[from] = status;
    answered_[from] = true;
    return;
  }
  if (status.asks == Question::is_missing) asked_[from] = Clock::now();
  send_status(status.rank, Question::none);
}

void Messenger::answer() {
  while (transport_->done(listening_)) {
    const Status status = heard_;
    listen();
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

std::optional<Mailbox::Message> Messenger::take() {
  std::optional<Mailbox::Message> letter = letters_.take();
  if (letter) heard_at_[static_cast<size_t>(letter->from)] = Clock::now();
  return letter;
}

bool Messenger::watch(std::span<const int> ranks) {
  const auto now = Clock::now();
  if (now - watched_ > kWatchGap) std::fill(heard_at_.begin(), heard_at_.end(), now);
  watched_ = now;
  waits_ = true;
  const bool hurries = !hurried_at_ && hurried_();
  if (hurries) hurried_at_ = now;
  if (hurries || now - questioned_ > deadlines_.wait / 4) {
    questioned_ = now;
    for (const int rank : ranks) send_status(rank, Question::lives);
  }
  bool all_live = hurried_at_.has_value();
  // Launchers kill what does not end about a second after their signal; find_missing() takes time.
  const auto patience = deadlines_.answer / (this->rank() == 0 ? 4 : 8);
  for (const int rank : ranks) {
    const auto heard_at = heard_at_[static_cast<size_t>(rank)];
    if (now - heard_at > deadlines_.wait) declare_dead(rank, true);
    if (!hurried_at_ || heard_at >= *hurried_at_) continue;
    all_live = false;
    if (now - *hurried_at_ > patience) declare_dead(rank, false);
  }
  return all_live;
}

/// A watched rank is silent. Rank 0 is the lowest that can report it.
void Messenger::declare_dead(int silent, bool deadline) {
  if (rank() == 0) throw RankMissing(missing_message(silent, deadline), silent);
  find_missing(silent, deadline);
}

void Messenger::report_failure() {
  for (int other = 0; other < size(); ++other)
    if (other != rank()) send_status(other, Question::fails);
  const auto begin = Clock::now();
  for (answer(); !sending_.empty() && Clock::now() - begin < deadlines_.answer; answer())
    std::this_thread::sleep_for(kPause);
}

void Messenger::leave() {
  const bool is_root = rank() == 0;
  std::vector<int> others(is_root ? answers_.size() - 1 : 1);
  std::iota(others.begin(), others.end(), is_root ? 1 : 0);
  const auto wait_until = [&](const std::function<bool()>& over) {
    for (answer(); !over(); answer()) {
      watch(others);
      std::this_thread::sleep_for(kPause);
    }
  };
  const auto announce = [&] {
    for (const int other : others) send_status(other, Question::leaves);
  };
  if (!is_root) announce();
  wait_until([&] { return leaving_ == std::ssize(others); });
  if (is_root) announce();
  wait_until([&] { return sending_.empty() && letters_.deliver(); });
}

void Messenger::finish() {
  letters_.close();
  transport_->cancel(listening_);
  data().finish();
}

void Messenger::send_operations_by(std::unique_ptr<Transport> transport) {
  require(!busy(), "the transport of operations is changed while one is under way");
  data_ = std::move(transport);
}

void Messenger::run(Rounds rounds) {
  require(!busy(), "an operation of ranks is run while another is under way");
  start(std::move(rounds), kOperationTag, [] {});
  while (busy()) advance();
}

void Messenger::exchange(int to, std::span<const std::byte> out, int from,
                         std::span<std::byte> in) {
  run({{.exchange = {to, out, from, in}}});
}

void Messenger::begin(Rounds rounds, std::function<void()> ended) {
  // Their messages do not mix: the last operation with this tag has ended.
  const int tag = kOperationTag + 1 + static_cast<int>(begun_++ % static_cast<int64_t>(kAtOnce));
  start(std::move(rounds), tag, std::move(ended));
}

void Messenger::start(Rounds rounds, int tag, std::function<void()> ended) {
  if (rounds.empty()) return ended();
  if (!busy()) wait_ = {};
  waits_ = true;
  operations_.push_back({.rounds = std::move(rounds), .ended = std::move(ended), .tag = tag});
  post(operations_.back());
}

/// Calls `call`, which moves a message between this rank and `peer`. If it throws because a rank is
/// lost, throws RankMissing or ReportedElsewhere instead.
template <typename Call>
auto Messenger::moving_with(int peer, const Call& call) {
  try {
    return call();
  } catch (const Error&) {
    find_missing(peer, false);
    throw;
  }
}

/// Begins to send and to receive the messages of a round.
void Messenger::post(Operation& operation) {
  const Exchange& exchange = operation.rounds[operation.round].exchange;
  const size_t bytes = std::max(exchange.out.size(), exchange.in.size());
  for (size_t part = 0; part * kLargestMessage < bytes; ++part) {
    if (const auto in = part_of(exchange.in, part); !in.empty())
      operation.requests.push_back(moving_with(exchange.from, [&, in = in] {
        return data().receive(exchange.from, operation.tag, in);
      }));
    if (const auto out = part_of(exchange.out, part); !out.empty())
      operation.requests.push_back(moving_with(
          exchange.to, [&, out = out] { return data().send(exchange.to, operation.tag, out); }));
  }
}

/// Goes on with the next round if all messages of this one are there. Returns whether it does.
bool Messenger::move(Operation& operation) {
  if (operation.over) return false;
  const Round& round = operation.rounds[operation.round];
  moving_with(peer_of(round.exchange), [&] {
    return std::erase_if(operation.requests,
                         [this](Transport::Request& request) { return data().done(request); });
  });
  if (!operation.requests.empty()) return false;
  bytes_sent_ += static_cast<int64_t>(round.exchange.out.size());
  if (round.then) round.then();
  if (++operation.round < operation.rounds.size()) {
    post(operation);
  } else {
    const auto ended = std::move(operation.ended);
    operation = {.over = true};
    ended();
  }
  return true;
}

bool Messenger::move_all() {
  bool moved = false;
  for (Operation& operation : operations_) moved |= move(operation);
  while (busy() && operations_.front().over) operations_.pop_front();
  if (moved) wait_ = {};
  if (!busy()) waits_ = false;
  return moved;
}

/// The rank whose message the oldest operation waits for.
int Messenger::awaited_rank() const {
  const Operation& oldest = operations_.front();
  return peer_of(oldest.rounds[oldest.round].exchange);
}

/// Asks the ranks with which messages are under way whether they live, so that both sides send. A
/// TCP connection that could not send for some seconds tries again after up to a minute, but at
/// once when it gets more to send.
void Messenger::probe() {
  std::set<int> peers;
  for (const Operation& operation : operations_) {
    if (operation.over) continue;
    const Exchange& exchange = operation.rounds[operation.round].exchange;
    if (!exchange.out.empty()) peers.insert(exchange.to);
    if (!exchange.in.empty()) peers.insert(exchange.from);
  }
  for (const int peer : peers) send_status(peer, Question::lives);
  probed_ = Clock::now();
}

void Messenger::advance() {
  if (move_all() || ++wait_.looks <= kEagerLooks) return;
  const auto waited = Clock::now() - wait_.begin;
  if (wait_.looks < looks_ && waited < kLooking) return std::this_thread::yield();
  answer();
  const auto patience = deadlines_.wait / kProbes;
  if (waited > patience && Clock::now() - probed_ > patience) probe();
  if (waited > deadlines_.wait) find_missing(awaited_rank(), true);
  if (hurried_() && !wait_.hurried) {
    wait_.hurried = true;
    find_missing(awaited_rank(), false, [this] { return move_all(); });
  }
  std::this_thread::sleep_for(kPause);
}

std::string Messenger::missing_message(int missing, bool deadline) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(deadlines_.wait).count();
  return deadline ? fmt::format("{} {} {} s", name_of(missing), kLate, seconds)
                  : fmt::format("{} {}", name_of(missing), kSilent);
}

/// Asks all ranks what they do. Throws if one is missing. Without `deadline` a rank is missing only
/// if it does not answer until what is waited for has `arrived`: it may have sent that and ended.
void Messenger::find_missing(int peer, bool deadline, const std::function<bool()>& arrived) {
  const auto here = static_cast<size_t>(rank());
  std::fill(answered_.begin(), answered_.end(), false);
  answered_[here] = true;
  answers_[here] = {.rank = rank(), .waits = 1};
  for (int other = 0; other < size(); ++other)
    if (other != rank()) send_status(other, Question::is_missing);
  const auto begin = Clock::now();
  const auto patience = deadline ? deadlines_.answer : deadlines_.answer / 4;
  const auto all_answered = [this] {
    return std::ranges::find(answered_, false) == answered_.end();
  };
  // With the deadline passed it waits even if all have answered: who else asks?
  while (Clock::now() - begin < patience && (deadline || !all_answered())) {
    answer();
    if (!deadline && arrived()) return;
    std::this_thread::sleep_for(kPause);
  }
  if (!deadline && all_answered()) return;
  int missing = peer;
  if (const auto silent = std::ranges::find(answered_, false); silent != answered_.end()) {
    missing = static_cast<int>(silent - answered_.begin());
  } else {
    // All live. Who waits for nobody has not arrived.
    for (const Status& status : answers_)
      if (!status.waits) missing = status.rank;
  }
  const std::string message = missing_message(missing, deadline);
  // A lower rank that has asked just now reports it, or has done so and ended.
  for (int lower = 0; lower < rank(); ++lower)
    if (Clock::now() - asked_[static_cast<size_t>(lower)] < 2 * deadlines_.answer + kTimeToReport)
      throw ReportedElsewhere(message);
  throw RankMissing(message, missing);
}

}  // namespace heed::distribute

bool heed::says_rank_missing(std::string_view error) {
  return error.find(distribute::kLate) != error.npos ||
         error.find(distribute::kSilent) != error.npos;
}
