#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "heed/base/parallel.h"
#include "heed/kernels/limits.h"

namespace heed::kernels::cpu {

/// Chains of dependent instructions that hide each other's latency.
inline constexpr int kChains = 12;
/// Links of a chain in a piece of work: a few hundredths of a millisecond, so that on a busy
/// machine all threads are at it at once now and then.
inline constexpr int64_t kLinks = int64_t{1} << 14;

/// The best rate at which all threads do `pieces` pieces of `work` each: piece(pass, number).
template <typename Piece>
double best_rate(double seconds, int64_t pieces, double work, const Piece& piece) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  double best = 0;
  int64_t pass = 0;
  const auto start = Clock::now();
  do {
    const auto begin = Clock::now();
    parallel_for(pieces, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) piece(pass, i);
    });
    ++pass;
    best = std::max(best, static_cast<double>(pieces) * work / since(begin));
  } while (since(start) < seconds);
  return best;
}

/// The same for chains of `operations` a link.
template <typename Piece>
double best_chain_rate(double seconds, double operations, const Piece& piece) {
  return best_rate(seconds, 8 * thread_count(), static_cast<double>(kChains * kLinks) * operations,
                   [&](int64_t, int64_t) { piece(); });
}

/// With what Highway has of f32.
ArithmeticRate measure_vectors(double seconds);
/// With instructions that Highway lacks; nothing where there are none for it.
std::optional<ArithmeticRate> measure_x86(Arithmetic arithmetic, double seconds);

}  // namespace heed::kernels::cpu
