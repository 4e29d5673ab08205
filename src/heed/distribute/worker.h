#pragma once

#include "heed/distribute/shared_work.h"

namespace heed::distribute {

/// share_work() on a rank other than 0.
void compute_for_root(Group& group, uint64_t fingerprint, const Compute& compute);

}  // namespace heed::distribute
