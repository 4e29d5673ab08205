#pragma once

#include "heed/distribute/shared_work.h"

namespace heed::distribute {

/// Computes a piece on all ranks together, which exchange messages on the thread that calls it. All
/// ranks return the same result.
using SpmdCompute = std::function<std::string(Messenger& messenger, std::string_view piece)>;

/// Single program, multiple data: all ranks compute each piece together, one piece after the other,
/// and rank 0 takes the results. While rank 0 has no piece, the others wait without a deadline, as
/// long as it answers pings. Runs on the progress thread, as do `next` and `take`; otherwise like
/// share_work(). Collective.
void run_spmd(Group& group, uint64_t fingerprint, const WorkSource& source,
              const SpmdCompute& compute);

}  // namespace heed::distribute
