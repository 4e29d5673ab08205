#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "heed/kernels/limits.h"

namespace heed::kernels {

// What the programs in this folder report beside a time: the work done per second, and how much of
// that which the machine can do at most it is. `share` is that of all runs, `best` that of the
// fastest, which other processes disturbed least; the limits are the best of many runs as well.

/// Operations per second; measured when it is asked for first.
double most_operations(Arithmetic arithmetic);

/// Bytes per second that all threads together read from an area of so many bytes (as near as a
/// power of two; at least 1 MiB): small areas lie in caches. Measured when it is asked for first.
double most_reading(int64_t bytes);

/// Runs body() as often as the state wants, each time doing `work`, of which the machine does
/// `at_most` a second.
template <typename Body>
void measure(benchmark::State& state, double work, double at_most, const Body& body) {
  using Clock = std::chrono::steady_clock;
  double total = 0, fastest = std::numeric_limits<double>::infinity();
  for ([[maybe_unused]] auto _ : state) {
    const auto start = Clock::now();
    body();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    total += seconds;
    fastest = std::min(fastest, seconds);
  }
  state.counters["share"] = work * static_cast<double>(state.iterations()) / total / at_most;
  state.counters["best"] = work / fastest / at_most;
}

/// The same for a body that reads and writes `bytes` bytes, in an area of as many.
template <typename Body>
void measure_bytes(benchmark::State& state, int64_t bytes, int64_t area, const Body& body) {
  measure(state, static_cast<double>(bytes), most_reading(area), body);
  state.SetBytesProcessed(state.iterations() * bytes);
}

/// The same for arithmetic.
template <typename Body>
void measure_operations(benchmark::State& state, int64_t operations, Arithmetic arithmetic,
                        const Body& body) {
  measure(state, static_cast<double>(operations), most_operations(arithmetic), body);
  state.SetItemsProcessed(state.iterations() * operations);
}

}  // namespace heed::kernels
