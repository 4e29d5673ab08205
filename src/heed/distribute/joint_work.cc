#include "heed/distribute/joint_work.h"

#include <array>

#include "heed/base/interrupt.h"
#include "heed/distribute/work_messages.h"

namespace heed::distribute {
namespace {

using Clock = std::chrono::steady_clock;

/// About a millisecond of looking for a message before a rank sleeps: the time between two sums of
/// a layer.
constexpr int kLooks = 5000;

/// Waits for the letters of others, who may take their time as long as they answer.
class Waiting {
 public:
  Waiting(Group& group, Messenger& messenger, std::vector<int> others)
      : group_(group), messenger_(messenger), others_(std::move(others)) {}

  /// To be called until what is waited for is there. Throws as Messenger::watch() does, and when a
  /// signal has told rank 0 to end. Without `watch` it asks nobody whether it lives.
  void once(bool watch = true) {
    group_.hurried();
    messenger_.answer();
    if (watch && messenger_.watch(others_) && messenger_.rank() == 0)
      fail("a signal has ended the work");
    std::this_thread::sleep_for(kWorkPause);
  }

 private:
  Group& group_;
  Messenger& messenger_;
  std::vector<int> others_;
};

/// Goes on with messages until there are none, but not for longer.
void settle(Messenger& messenger, std::chrono::milliseconds limit = kWorkLeave) {
  const auto begin = Clock::now();
  do {
    messenger.answer();
    if (messenger.settled()) return;
    std::this_thread::sleep_for(kWorkPause);
  } while (Clock::now() - begin < limit);
}

/// Waits until every other rank has sent a letter of this kind.
void wait_for_all(Group& group, Messenger& messenger, Waiting& waiting, WorkMessage kind,
                  uint64_t number) {
  for (int missing = group.size() - 1; missing > 0;) {
    waiting.once(kind != WorkMessage::bye);  // who has said goodbye answers no more
    while (const auto letter = messenger.take()) {
      const ReadWork read = read_work(letter->bytes);
      const std::string name = group.name_of(letter->from);
      if (read.kind == WorkMessage::failed) fail("{}: {}", name, read.bytes);
      require(read.kind == kind && read.number == number,
              "{} has another model, or another build of heed, than rank 0", name);
      --missing;
    }
  }
}

/// What rank 0 computes with the others. A signal ends it.
std::string led(Messenger& messenger, const WorkItem& piece, const ComputeTogether& compute) {
  const InterruptScope scope([&] { return messenger.hurried(); });
  try {
    return compute(messenger, piece.bytes);
  } catch (const RankMissing& missing) {
    throw RankMissing(fmt::format("{}; missing: {}", missing.what(), piece.name), missing.rank());
  } catch (const Interrupted&) {
    fail("a signal has ended the work before {}", piece.name);
  }
}

void lead(Group& group, Messenger& messenger, uint64_t fingerprint, const WorkSource& source,
          const ComputeTogether& compute) {
  std::vector<int> others;
  for (int rank = 1; rank < group.size(); ++rank) others.push_back(rank);
  const auto tell = [&](WorkMessage kind, std::string_view bytes = "") {
    for (const int rank : others) messenger.post(rank, write_work(kind, 0, bytes));
  };
  Waiting waiting(group, messenger, others);
  try {
    wait_for_all(group, messenger, waiting, WorkMessage::hello, fingerprint);
    for (bool ended = false; !ended;) {
      const std::optional<WorkItem> piece = source.next(ended);
      if (!piece) {
        waiting.once();
        continue;
      }
      tell(WorkMessage::piece, piece->bytes);
      source.take(led(messenger, *piece, compute));
    }
    tell(WorkMessage::end);
    wait_for_all(group, messenger, waiting, WorkMessage::bye, 0);
    settle(messenger);
  } catch (...) {
    tell(WorkMessage::stop);
    settle(messenger, kWorkStopping);
    throw;
  }
}

void follow(Group& group, Messenger& messenger, uint64_t fingerprint,
            const ComputeTogether& compute) {
  Waiting waiting(group, messenger, {0});
  messenger.post(0, write_work(WorkMessage::hello, fingerprint));
  while (true) {
    std::optional<Mailbox::Message> letter = messenger.take();
    if (!letter) {
      waiting.once();
      continue;
    }
    const auto [kind, number, bytes] = read_work(letter->bytes);
    if (kind == WorkMessage::stop) throw ReportedElsewhere("rank 0 has ended the work");
    if (kind == WorkMessage::end) break;
    compute(messenger, bytes);
  }
  settle(messenger);
  messenger.post(0, write_work(WorkMessage::bye));
  settle(messenger);
}

}  // namespace

void work_together(Group& group, uint64_t fingerprint, const WorkSource& source,
                   const ComputeTogether& compute) {
  require(!group.alone(), "work is done by several ranks together, and there is one");
  std::future<void> done = group.run([&](Messenger& messenger) {
    messenger.set_looks(kLooks);
    if (group.is_root())
      lead(group, messenger, fingerprint, source, compute);
    else
      follow(group, messenger, fingerprint, compute);
  });
  group.wait(done);
}

}  // namespace heed::distribute
