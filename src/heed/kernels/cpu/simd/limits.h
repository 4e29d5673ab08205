#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "heed/base/parallel.h"
#include "heed/machine_limits.h"

namespace heed::kernels::cpu {

/// Chains of dependent instructions, enough to hide each other's latency.
inline constexpr int kChains = 12;
/// Instructions of a chain per task: a few hundredths of a millisecond, so that even on a busy
/// machine all threads run at the same time now and then.
inline constexpr int64_t kLinks = int64_t{1} << 14;

/// The best rate at which all threads do `tasks` tasks of `work` each: task(pass, index).
template <typename Task>
double best_rate(double seconds, int64_t tasks, double work, const Task& task) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  double best = 0;
  int64_t pass = 0;
  const auto start = Clock::now();
  do {
    const auto begin = Clock::now();
    parallel_for(tasks, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) task(pass, i);
    });
    ++pass;
    best = std::max(best, static_cast<double>(tasks) * work / since(begin));
  } while (since(start) < seconds);
  return best;
}

/// The same for chains of `operations` per instruction.
template <typename Task>
double best_chain_rate(double seconds, double operations, const Task& task) {
  return best_rate(seconds, 8 * thread_count(), static_cast<double>(kChains * kLinks) * operations,
                   [&](int64_t, int64_t) { task(); });
}

/// The rate of f32 with Highway's vectors.
ArithmeticRate measure_vectors(double seconds);
/// The rate of instructions that Highway does not offer; none if the machine lacks them.
std::optional<ArithmeticRate> measure_intrinsics(Compute arithmetic, double seconds);

}  // namespace heed::kernels::cpu
