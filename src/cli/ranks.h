#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heed/distribute/group.h"

namespace heed::cli {

/// The ranks that a launcher (mpirun, srun) has started with this process; this process alone
/// without one. To be called once, before anything is read or loaded. Throws on one rank the error
/// that keeps a rank from joining, and ReportedElsewhere on the others.
std::shared_ptr<distribute::Group> join_ranks(std::function<bool()> hurried,
                                              distribute::Deadlines deadlines);

/// From now on the library joins the ranks and sees to their errors.
void leave_ranks_to_library();

/// Before an error is reported: under a launcher one rank reports for all. If the ranks have not
/// joined, they agree on it: throws ReportedElsewhere, or Error that names the rank whose error
/// `message` is. Otherwise does nothing: this process reports.
void agree_on_error(const std::string& message);

/// On a rank whose error another reports: distribute::wait_for_report(), unless the library has
/// done so.
void wait_for_report();

/// Whether this process prints what each rank would print alike, such as --help: rank 0 alone, by
/// what the launcher says.
bool prints_for_all();

/// Throws Error if a launcher has started this command on several ranks.
void require_one_rank(const std::string& command);

}  // namespace heed::cli
