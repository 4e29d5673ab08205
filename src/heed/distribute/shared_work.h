#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "heed/distribute/group.h"

namespace heed::distribute {

/// A part of some work: bytes from which any rank computes the same result.
struct WorkItem {
  std::string name;  // for errors: "lines 401 to 500"
  std::string bytes;
};

/// The functions by which rank 0 gets pieces and delivers their results.
struct WorkSource {
  /// The next piece, if there is one by now; sets `ended` when none will follow. Must not wait. An
  /// Error that it throws ends the work once all earlier pieces are done. Called on the progress
  /// thread.
  std::function<std::optional<WorkItem>(bool& ended)> next;
  /// Takes the results, in the order of the pieces, on the calling thread.
  std::function<void(std::string result)> take;
};

/// Computes the result of a piece, on the calling thread. Any exception ends the work of all ranks.
using Compute = std::function<std::string(std::string_view piece)>;

/// Shares work among the ranks, rank 0 included: each gets a new piece when it has done one
/// (dynamic self-scheduling). Returns on rank 0 when all results have been taken, and then on the
/// others. `group` has several ranks, which call it with the same `fingerprint` of what results
/// depend on; its `stop_requested` is called on the progress thread, too. Collective.
///
/// Throws on rank 0: what `next` or `take` throws; RankMissing or Error, which name the rank and
/// its pieces, when one is lost, fails or has another fingerprint, after the results before them
/// have been taken. The other ranks throw ReportedElsewhere, or RankMissing if rank 0 is lost.
void share_work(Group& group, uint64_t fingerprint, const WorkSource& source,
                const Compute& compute);

/// In place of share_work(), on rank 0, when an error ends the work before it has begun. The others
/// throw ReportedElsewhere.
void end_work(Group& group);

/// In place of share_work(), on another rank, when it cannot work: rank 0 reports `error`.
/// Throws ReportedElsewhere, or RankMissing if rank 0 is lost.
[[noreturn]] void report_to_root(Group& group, const std::string& error);

}  // namespace heed::distribute
