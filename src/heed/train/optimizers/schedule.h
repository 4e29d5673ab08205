#pragma once

#include <cstdint>
#include <string_view>

namespace heed::train {

/// The learning rate after linear warmup.
enum class ScheduleKind {
  inverse_sqrt,  // as 1 / sqrt(step) (Vaswani et al. 2017, equation 3)
  cosine,        // half a cosine, down to the floor at the last step (Loshchilov and Hutter 2017)
  linear,        // a straight line down to the floor at the last step
  constant
};

std::string_view name_of(ScheduleKind kind);

struct Schedule {
  ScheduleKind kind = ScheduleKind::inverse_sqrt;
  double peak = 1e-3;
  int64_t warmup = 4000;
  int64_t last_step = 0;  // for cosine and linear; 0: not known yet, the peak is kept
  double floor = 0.0;     // of cosine and linear: last learning rate / peak

  /// The learning rate of a step, counted from 1.
  double at(int64_t step) const;
};

}  // namespace heed::train
