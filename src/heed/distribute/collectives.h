#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/distribute/messenger.h"
#include "heed/distribute/shards.h"

namespace heed::distribute {

/// Collective operations. The first three return this rank's schedule, for Messenger::run() or
/// begin(); `values` must outlive that. The others run at once and throw as Messenger::run() does.

/// Adds the `values` of all ranks: afterwards a rank's shard holds the sums; the rest is undefined.
/// A power of two of ranks exchanges halves with partners rank ^ 1, rank ^ 2, ... (recursive
/// halving with distance doubling; Thakur, Rabenseifner and Gropp 2005), so each sum is a balanced
/// binary tree over the ranks. Other numbers of ranks exchange shards pairwise and add them in the
/// order of the ranks. Either way a rank sends (size - 1) / size of the values.
[[nodiscard]] CollectiveSchedule reduce_scatter(const Messenger& messenger, std::span<float> values,
                                                const Bounds& shards);

/// Sends each rank's shard to all: `values` is complete afterwards. Bounds count elements of
/// `element_bytes` bytes.
[[nodiscard]] CollectiveSchedule all_gather(const Messenger& messenger, std::span<std::byte> values,
                                            const Bounds& shards, int64_t element_bytes);

/// Replaces the `values` of all ranks by their sums, which have the same bits on all: those of
/// reduce_scatter(). A power of two of ranks exchanges few values as a whole, in fewer messages.
[[nodiscard]] CollectiveSchedule all_reduce(const Messenger& messenger, std::span<float> values);

/// Sends the bytes of rank 0 to all, and resizes the others' `bytes`.
void broadcast(Messenger& messenger, std::string& bytes);

/// The values of all ranks in the order of the ranks, on every rank. All give equally many.
std::vector<double> all_gather(Messenger& messenger, std::span<const double> values);

/// Sends bytes to one rank and returns those of another, of any number.
std::string exchange(Messenger& messenger, int to, const std::string& out, int from);

/// Sends each rank's elements to rank 0, which calls `take` with those of each rank in order. All
/// ranks know the counts.
void gather(Messenger& messenger, std::span<const float> values, std::span<const int64_t> counts,
            const std::function<void(int rank, std::span<const float> values)>& take);

}  // namespace heed::distribute
