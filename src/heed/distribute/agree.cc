#include "heed/distribute/agree.h"

#include <array>
#include <chrono>
#include <thread>

namespace heed::distribute {
namespace {

using Clock = std::chrono::steady_clock;

/// How long StatusKind::abort of another rank may take to arrive. Shorter than kTimeToReport, after
/// which the ranks end that leave the report to this one.
constexpr std::chrono::seconds kAbortArrival{2};
constexpr std::chrono::milliseconds kAbortPollInterval{10};

}  // namespace

void require_no_error(Group& group, const std::string& error) {
  const std::vector<double> failed = group.all_gather(std::array{error.empty() ? 0.0 : 1.0});
  int first = 0, count = 0;
  for (int rank = group.size() - 1; rank >= 0; --rank)
    if (failed[static_cast<size_t>(rank)] > 0) {
      first = rank;
      ++count;
    }
  if (count == 0) return;
  if (first != group.rank()) throw ReportedElsewhere(error);
  if (count == group.size() || group.is_root()) throw Error(error);
  fail("{}: {}", group.name_of(first), error);
}

bool is_reported_elsewhere(const Group& group) {
  const auto begin = Clock::now();
  while (!group.failure_is_reported() && Clock::now() - begin < kAbortArrival)
    std::this_thread::sleep_for(kAbortPollInterval);
  return group.failure_is_reported();
}

void wait_for_report() { std::this_thread::sleep_for(kTimeToReport); }

void require_same(Group& group, std::string_view what, uint64_t value) {
  // A double holds 32 bits exactly.
  const std::vector<double> all = group.all_gather(
      std::array{static_cast<double>(value >> 32), static_cast<double>(value & 0xffff'ffffU)});
  for (size_t i = 2; i < all.size(); i += 2)
    if (all[i] != all[0] || all[i + 1] != all[1])
      require_no_error(group, group.is_root()
                                  ? fmt::format("{} has {} than rank 0",
                                                group.name_of(static_cast<int>(i / 2)), what)
                                  : "");
}

}  // namespace heed::distribute
