#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::data {

/// Batches for inference: indices into `lengths` (tokens of each text), each once, longest first;
/// equal lengths keep their order. A batch has at most `token_budget` tokens, unless it is a single
/// longer text. Throws Error when the budget is below 1.
std::vector<std::vector<int64_t>> plan_by_tokens(std::span<const int64_t> lengths,
                                                 int64_t token_budget);

/// Tokens of a batch on a GPU, unless the caller says how many: so many rows that each product has
/// a few tiles for every multiprocessor of the largest GPUs (128 x 3 tiles of 128 x 128 where a
/// model is 384 wide, for 132), and few enough for the memory of small ones (a layer that is 4,096
/// wide takes 256 MiB in f32).
inline constexpr int64_t kDeviceBatchTokens = 16384;

/// Tokens of a batch of texts that are only read: `asked`, or if that is 0, what is fastest. On the
/// CPU small batches are: their activations stay in the caches, which saves more than reading the
/// weights again costs.
constexpr int64_t tokens_per_batch(int64_t asked, bool on_device) {
  constexpr int64_t kCpuBatchTokens = 512;
  if (asked > 0) return asked;
  return on_device ? kDeviceBatchTokens : kCpuBatchTokens;
}

/// Limits for plan_for_threads().
struct BatchTokens {
  int64_t max_per_batch = 0;
  int64_t min_per_thread = 1;  // fewer threads are used when there are fewer tokens
  /// A device has one queue of work: one thread runs all batches, as large as they may be.
  bool on_device = false;
};

/// The same for `threads` threads that each process whole batches: the batches have similar sizes,
/// and their number is a multiple of the number of threads used. A text longer than half of
/// `max_per_batch` is a batch of its own. Throws Error when `max_per_batch` is below 1.
std::vector<std::vector<int64_t>> plan_for_threads(std::span<const int64_t> lengths,
                                                   const BatchTokens& tokens, int64_t threads);

/// Plans batches for the threads of the current Executor and calls run(indices) for each. Each
/// thread runs whole batches; all threads share a single batch.
template <typename Run>
void run_batches(std::span<const int64_t> lengths, const BatchTokens& tokens, const Run& run) {
  const auto batches = plan_for_threads(lengths, tokens, tokens.on_device ? 1 : thread_count());
  if (tokens.on_device) {
    for (const std::vector<int64_t>& batch : batches) run(batch);
    return;
  }
  parallel_in_order(std::ssize(batches), 1,
                    [&](int64_t batch, int64_t) { run(batches[static_cast<size_t>(batch)]); });
}

/// Calls read(i) for each of `count` inputs, on several threads. An Error names the first input
/// that was refused: its kind, and its number counted from `first_number`.
template <typename Read>
void read_inputs(std::string_view kind, size_t count, int64_t first_number, const Read& read) {
  constexpr int64_t kInputsPerTask = 32;
  parallel_in_order(static_cast<int64_t>(count), kInputsPerTask, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      name_input(kind, first_number + i, [&] { read(static_cast<size_t>(i)); });
  });
}

}  // namespace heed::data
