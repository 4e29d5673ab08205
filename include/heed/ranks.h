#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/error.h"
#include "heed/export.h"

// The ranks of a run: the processes that a launcher of MPI (mpirun, srun) has started together.
// They share lines (lines.h) or a training (TrainOptions::distributed); rank 0 reads and writes.

namespace heed {

/// Thrown on a rank in place of an Error that another rank reports: this process should end without
/// a word. Functions wait up to 5 seconds for the report before they throw this; a LineProcessor
/// waits in its destructor.
class HEED_EXPORT ReportedElsewhere : public Error {
 public:
  using Error::Error;
};

/// The place of this process among those that a launcher has started.
struct LaunchedRank {
  int rank = 0, processes = 1;  // from 0; of all
};

/// The rank by the variables that the launcher has set, so without joining the other ranks; none if
/// this process was started alone.
HEED_EXPORT std::optional<LaunchedRank> launched_rank();

/// To be called before a process reports an error, unless something has joined the ranks: under a
/// launcher it joins them, so that one rank reports for all. Returns if this process should report
/// `message`. Throws ReportedElsewhere if another rank reports, or the Error to report instead,
/// which names the rank.
HEED_EXPORT void agree_on_error(const std::string& message);

/// Whether an error that another process has printed says that a rank was lost, so that the run can
/// be continued.
HEED_EXPORT bool says_rank_missing(std::string_view error);

}  // namespace heed
