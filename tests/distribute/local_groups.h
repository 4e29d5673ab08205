#pragma once

#include "heed/distribute/group.h"
#include "tests/distribute/local_ranks.h"

namespace heed::distribute {

/// Runs `rank(group)` on one thread for each rank of a mailbox; throws what the first of them
/// threw.
inline void run_groups(const std::shared_ptr<Mailbox>& mailbox,
                       const std::function<void(Group&)>& rank, Deadlines deadlines = {}) {
  std::vector<std::exception_ptr> errors(static_cast<size_t>(mailbox->size()));
  std::vector<std::thread> threads;
  for (int i = 0; i < mailbox->size(); ++i)
    threads.emplace_back([&, i] {
      try {
        Group group([&] { return std::make_unique<LocalTransport>(mailbox, i); }, deadlines);
        rank(group);
      } catch (...) {
        errors[static_cast<size_t>(i)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace heed::distribute
