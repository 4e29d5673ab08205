#include "heed/ranks.h"

#include "heed/distribute/agree.h"
#include "heed/distribute/join.h"
#include "heed/distribute/mpi_transport.h"

namespace heed {
namespace {

void join_and_agree(const std::string& message) {
  std::shared_ptr<distribute::Group> group;
  try {
    group = distribute::join_launched_ranks([] { return false; });
  } catch (const ReportedElsewhere&) {
    throw;
  } catch (const Error&) {
    return;  // this rank cannot join the others and reports its own error
  }
  distribute::require_no_error(*group, message);
}

}  // namespace

std::optional<LaunchedRank> launched_rank() {
  const auto launcher = distribute::mpi_of_launcher();
  if (!launcher) return std::nullopt;
  return LaunchedRank{.rank = launcher->rank, .processes = launcher->processes};
}

void agree_on_error(const std::string& message) {
  if (launched_rank()) distribute::waiting_for_report([&] { join_and_agree(message); });
}

}  // namespace heed
