#include "cli/ranks.h"

#include "heed/distribute/agree.h"
#include "heed/distribute/join.h"
#include "heed/distribute/mpi_transport.h"

namespace heed::cli {
namespace {

bool joined = false;           // by this process
bool left_to_library = false;  // which joins them

}  // namespace

std::shared_ptr<distribute::Group> join_ranks(std::function<bool()> hurried,
                                              distribute::Deadlines deadlines) {
  joined = true;
  auto group = distribute::join_launched_ranks(std::move(hurried), deadlines);
  distribute::require_no_error(*group, "");
  return group;
}

void leave_ranks_to_library() { left_to_library = true; }

void agree_on_error(const std::string& message) {
  if (joined || left_to_library || !distribute::mpi_of_launcher()) return;
  joined = true;
  std::shared_ptr<distribute::Group> group;
  try {
    group = distribute::join_launched_ranks([] { return false; });
  } catch (const distribute::ReportedElsewhere&) {
    throw;
  } catch (const Error&) {
    return;  // this rank cannot join the others and reports its own error
  }
  distribute::require_no_error(*group, message);
}

void wait_for_report() {
  if (!left_to_library) distribute::wait_for_report();
}

bool prints_for_all() {
  const auto launcher = distribute::mpi_of_launcher();
  return !launcher || launcher->rank == 0;
}

void require_one_rank(const std::string& command) {
  require(!distribute::mpi_of_launcher(), "{} does not run on several ranks", command);
}

}  // namespace heed::cli
