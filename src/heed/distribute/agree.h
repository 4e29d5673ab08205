#pragma once

#include <optional>
#include <utility>

#include "heed/distribute/group.h"

namespace heed::distribute {

/// Throws if `error` is not empty on some rank: on the lowest such rank Error, which names the rank
/// unless it is rank 0 or all have an error, and on the others ReportedElsewhere. Collective.
void require_no_error(Group& group, const std::string& error);

/// Returns what `call` returns. If it throws Error on some rank, all ranks throw as
/// require_no_error() does. `call` itself must not be collective. Collective.
template <typename Call>
auto propagate_errors(Group& group, const Call& call) {
  using Result = decltype(call());
  std::optional<Result> result;
  std::string error;
  try {
    result.emplace(call());
  } catch (const Error& problem) {
    if (group.alone()) throw;
    error = problem.what();
  }
  require_no_error(group, error);
  return std::move(*result);
}

/// Whether another rank reports an error that this rank has met, too. Waits up to 2 seconds for
/// that rank's message.
bool is_reported_elsewhere(const Group& group);

/// Sleeps for 5 seconds, in which another rank reports the error. The launcher ends all ranks when
/// one ends with an error, so the one that reports is to end first. Returns on a rank that is not
/// ended.
void wait_for_report();

/// Returns what `call` returns. Before it passes ReportedElsewhere on to callers of the library, it
/// waits for the report.
template <typename Call>
auto waiting_for_report(const Call& call) {
  try {
    return call();
  } catch (const ReportedElsewhere&) {
    wait_for_report();
    throw;
  }
}

/// Throws, as require_no_error() does, if a rank's `value` differs from that of rank 0: "rank 3
/// (host b) has another configuration than rank 0". Collective.
void require_same(Group& group, std::string_view what, uint64_t value);

}  // namespace heed::distribute
