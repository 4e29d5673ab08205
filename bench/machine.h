#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "heed/machine_limits.h"

namespace heed::kernels {

// What the programs in this folder report beside a time: the work done per second, as a share of
// the peak of the machine. `share` is that of all runs, `best` that of the fastest, which other
// processes disturbed least. The peaks are the best of many runs as well.

/// Peak operations per second; measured at the first call.
double peak_operations(Compute arithmetic);

/// Peak bytes per second that all threads together read from an area of about `bytes` bytes (the
/// nearest power of two, at least 1 MiB): small areas lie in caches. Measured at the first call.
double peak_reading(int64_t bytes);

/// Runs body() once per iteration of the state. Each run does `work`, of which the machine does at
/// most `peak` per second.
template <typename Body>
void measure(benchmark::State& state, double work, double peak, const Body& body) {
  using Clock = std::chrono::steady_clock;
  double total = 0, fastest = std::numeric_limits<double>::infinity();
  for ([[maybe_unused]] auto _ : state) {
    const auto start = Clock::now();
    body();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    total += seconds;
    fastest = std::min(fastest, seconds);
  }
  state.counters["share"] = work * static_cast<double>(state.iterations()) / total / peak;
  state.counters["best"] = work / fastest / peak;
}

/// The same for a body that reads and writes `bytes` bytes in an area of `area` bytes.
template <typename Body>
void measure_bytes(benchmark::State& state, int64_t bytes, int64_t area, const Body& body) {
  measure(state, static_cast<double>(bytes), peak_reading(area), body);
  state.SetBytesProcessed(state.iterations() * bytes);
}

/// The same for arithmetic.
template <typename Body>
void measure_operations(benchmark::State& state, int64_t operations, Compute arithmetic,
                        const Body& body) {
  measure(state, static_cast<double>(operations), peak_operations(arithmetic), body);
  state.SetItemsProcessed(state.iterations() * operations);
}

}  // namespace heed::kernels
