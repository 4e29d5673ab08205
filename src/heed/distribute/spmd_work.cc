#include "heed/distribute/spmd_work.h"

#include "heed/base/interrupt.h"
#include "heed/distribute/work_messages.h"

namespace heed::distribute {
namespace {

/// About a millisecond: the time between two all-reduces of a layer.
constexpr int kSpinPolls = 5000;

/// Polls once for messages of `others`, who may take their time as long as they answer pings.
/// Throws as Messenger::watch() does, and on rank 0 when a stop is requested.
void poll(Group& group, Messenger& messenger, std::span<const int> others) {
  group.poll_stop_request();
  messenger.answer();
  if (!others.empty() && messenger.watch(others) && messenger.rank() == 0)
    fail("a signal has ended the work");
  std::this_thread::sleep_for(kWorkPollInterval);
}

/// Waits until every other rank has sent a message of this kind.
void wait_for_all(Group& group, Messenger& messenger, std::span<const int> others, WorkMessage kind,
                  uint64_t number) {
  for (size_t received = 0; received < others.size();) {
    // A rank that has sent `bye` answers no more pings, so nobody is watched then.
    poll(group, messenger, kind == WorkMessage::bye ? std::span<const int>() : others);
    while (const auto message = messenger.try_receive()) {
      const ReadWork read = read_work(message->bytes);
      const std::string name = group.name_of(message->from);
      if (read.kind == WorkMessage::failed) fail("{}: {}", name, read.bytes);
      require(read.kind == kind && read.number == number,
              "{} has another model, or another build of heed, than rank 0", name);
      ++received;
    }
  }
}

/// Rank 0's part of a piece. A request to stop interrupts it.
std::string compute_piece(Messenger& messenger, const WorkItem& piece, const SpmdCompute& compute) {
  const InterruptScope scope([&] { return messenger.stop_requested(); });
  try {
    return compute(messenger, piece.bytes);
  } catch (const RankMissing& missing) {
    throw RankMissing(fmt::format("{}; missing: {}", missing.what(), piece.name), missing.rank());
  } catch (const Interrupted&) {
    fail("a signal has ended the work before {}", piece.name);
  }
}

void run_root(Group& group, Messenger& messenger, uint64_t fingerprint, const WorkSource& source,
              const SpmdCompute& compute) {
  std::vector<int> others;
  for (int rank = 1; rank < group.size(); ++rank) others.push_back(rank);
  const auto send_all = [&](WorkMessage kind, std::string_view bytes = "") {
    for (const int rank : others) messenger.send(rank, write_work(kind, 0, bytes));
  };
  try {
    wait_for_all(group, messenger, others, WorkMessage::hello, fingerprint);
    for (bool ended = false; !ended;) {
      const std::optional<WorkItem> piece = source.next(ended);
      if (!piece) {
        poll(group, messenger, others);
        continue;
      }
      send_all(WorkMessage::piece, piece->bytes);
      source.take(compute_piece(messenger, *piece, compute));
    }
    send_all(WorkMessage::end);
    wait_for_all(group, messenger, others, WorkMessage::bye, 0);
    flush(messenger);
  } catch (...) {
    send_all(WorkMessage::stop);
    flush(messenger, kStopTimeout);
    throw;
  }
}

void run_worker(Group& group, Messenger& messenger, uint64_t fingerprint,
                const SpmdCompute& compute) {
  const std::vector<int> root{0};
  messenger.send(0, write_work(WorkMessage::hello, fingerprint));
  while (true) {
    const std::optional<Mailbox::Message> message = messenger.try_receive();
    if (!message) {
      poll(group, messenger, root);
      continue;
    }
    const auto [kind, number, bytes] = read_work(message->bytes);
    if (kind == WorkMessage::stop) throw ReportedElsewhere("rank 0 has ended the work");
    if (kind == WorkMessage::end) break;
    compute(messenger, bytes);
  }
  flush(messenger);
  messenger.send(0, write_work(WorkMessage::bye));
  flush(messenger);
}

}  // namespace

void run_spmd(Group& group, uint64_t fingerprint, const WorkSource& source,
              const SpmdCompute& compute) {
  require(!group.alone(), "work is done by several ranks together, and there is one");
  std::future<void> done = group.run([&](Messenger& messenger) {
    messenger.set_spin_polls(kSpinPolls);
    if (group.is_root())
      run_root(group, messenger, fingerprint, source, compute);
    else
      run_worker(group, messenger, fingerprint, compute);
  });
  group.wait(done);
}

}  // namespace heed::distribute
