#pragma once

#include "heed/distribute/group.h"
#include "tests/distribute/local_ranks.h"

namespace heed::distribute {

/// The Groups of a test's threads.
class GroupRanks {
 public:
  explicit GroupRanks(int size) : GroupRanks(std::make_shared<LocalMailbox>(size)) {}
  explicit GroupRanks(std::shared_ptr<LocalMailbox> mailbox) : mailbox_(std::move(mailbox)) {}

  /// What each rank threw.
  std::vector<std::exception_ptr> run(
      const std::function<void(Group&)>& rank, Deadlines deadlines = {},
      const std::function<bool()>& stop_requested = [] { return false; }) {
    std::vector<std::exception_ptr> errors(static_cast<size_t>(mailbox_->size()));
    std::vector<std::thread> threads;
    for (int i = 0; i < mailbox_->size(); ++i)
      threads.emplace_back([&, i] {
        try {
          Group group([&] { return std::make_unique<LocalTransport>(mailbox_, i); }, deadlines,
                      stop_requested);
          rank(group);
        } catch (...) {
          errors[static_cast<size_t>(i)] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    return errors;
  }
  void silence(int rank) { mailbox_->silence(rank); }

 private:
  std::shared_ptr<LocalMailbox> mailbox_;
};

/// Runs `rank(group)` on one thread for each rank of a mailbox; throws what the first of them
/// threw.
inline void run_groups(std::shared_ptr<LocalMailbox> mailbox,
                       const std::function<void(Group&)>& rank, Deadlines deadlines = {}) {
  for (const std::exception_ptr& error : GroupRanks(std::move(mailbox)).run(rank, deadlines))
    if (error) std::rethrow_exception(error);
}

}  // namespace heed::distribute
