#include "heed/train/optimizers/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed::train {

std::string_view name_of(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::inverse_sqrt:
      return "inverse_sqrt";
    case ScheduleKind::cosine:
      return "cosine";
    case ScheduleKind::linear:
      return "linear";
    case ScheduleKind::constant:
      return "constant";
  }
  return "?";
}

double Schedule::at(int64_t step) const {
  const auto now = static_cast<double>(step);
  const auto warm = static_cast<double>(std::max<int64_t>(warmup, 1));
  if (step <= warmup) return peak * now / warm;
  if (kind == ScheduleKind::inverse_sqrt) return peak * std::sqrt(warm / now);
  if (kind == ScheduleKind::constant || last_step <= warmup) return peak;
  const double done = std::min(1.0, (now - warm) / (static_cast<double>(last_step) - warm));
  const double left =
      kind == ScheduleKind::linear ? 1.0 - done : 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  return peak * (floor + (1.0 - floor) * left);
}

}  // namespace heed::train
