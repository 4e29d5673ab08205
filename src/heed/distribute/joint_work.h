#pragma once

#include "heed/distribute/shared_work.h"

namespace heed::distribute {

/// What all ranks compute together for a piece, exchanging messages on the thread that calls it.
using ComputeTogether = std::function<std::string(Messenger& messenger, std::string_view piece)>;

/// All ranks compute each piece, one after the other, with messages between them; all get the same
/// result, and rank 0 takes it. While rank 0 has no piece, the others wait without a deadline, as
/// long as it answers. Runs on the group's thread, `next` and `take`, too; otherwise like
/// share_work(). Collective.
void work_together(Group& group, uint64_t fingerprint, const WorkSource& source,
                   const ComputeTogether& compute);

}  // namespace heed::distribute
