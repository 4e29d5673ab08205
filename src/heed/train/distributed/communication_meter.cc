#include "heed/train/distributed/communication_meter.h"

#include <algorithm>

#include "heed/base/duration.h"

namespace heed::train {
namespace {

enum Figure : size_t { seconds, blocked, bytes, computing };

}  // namespace

void CommunicationMeter::begin_passes() {
  begin_ = Clock::now();
  blocked_before_ = group_.traffic().seconds_blocked;
}

void CommunicationMeter::end_passes() {
  computing_ =
      seconds_between(begin_, Clock::now()) - (group_.traffic().seconds_blocked - blocked_before_);
}

std::vector<double> CommunicationMeter::take() {
  const distribute::Group::Traffic now = group_.traffic(), before = std::exchange(last_, now);
  return {now.seconds - before.seconds, now.seconds_blocked - before.seconds_blocked,
          static_cast<double>(now.bytes_sent - before.bytes_sent), computing_};
}

StepCommunication communication_of(std::span<const std::vector<double>> figures) {
  const auto sum = [&](Figure figure) {
    double total = 0;
    for (const std::vector<double>& of_rank : figures) total += of_rank[figure];
    return total;
  };
  const auto slowest = std::ranges::max_element(
      figures, {}, [](const std::vector<double>& of_rank) { return of_rank[computing]; });
  const auto ranks = static_cast<double>(figures.size());
  const double mean = sum(computing) / ranks;
  StepCommunication result{.seconds = sum(seconds) / ranks,
                           .bytes = static_cast<int64_t>(sum(bytes)),
                           .slowest_rank = slowest - figures.begin()};
  // A caller also waits a little before an operation begins and after it has ended.
  if (sum(seconds) > 0) result.hidden = std::clamp(1 - sum(blocked) / sum(seconds), 0.0, 1.0);
  if (mean > 0) result.imbalance = (*slowest)[computing] / mean - 1;
  return result;
}

}  // namespace heed::train
