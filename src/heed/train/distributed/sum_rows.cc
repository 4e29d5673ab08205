#include "heed/train/distributed/sum_rows.h"

#include <bit>
#include <cstring>

#include "heed/base/rounding.h"

namespace heed::train {
namespace {

using distribute::Bounds;

/// The numbers of the rows, then their values.
std::string written(const SparseGradient& rows) {
  if (rows.rows().empty()) return {};
  const size_t numbers = rows.rows().size() * sizeof(int32_t);
  const auto values = static_cast<size_t>(rows.values().bytes());
  std::string bytes(numbers + values, '\0');
  std::memcpy(bytes.data(), rows.rows().data(), numbers);
  std::memcpy(bytes.data() + numbers, rows.values().raw(), values);
  return bytes;
}

SparseGradient read(const std::string& bytes, int64_t cols) {
  const size_t count = bytes.size() / (sizeof(int32_t) + static_cast<size_t>(cols) * sizeof(float));
  if (count == 0) return {};
  std::vector<int32_t> rows(count);
  Tensor values = Tensor::empty({static_cast<int64_t>(count), cols});
  const size_t numbers = count * sizeof(int32_t);
  std::memcpy(rows.data(), bytes.data(), numbers);
  std::memcpy(values.raw(), bytes.data() + numbers, bytes.size() - numbers);
  return {std::move(rows), std::move(values)};
}

/// The rows that overlap shards [first, last).
SparseGradient in_shards(const SparseGradient& rows, const Bounds& shards, int first, int last,
                         int64_t cols) {
  const int64_t begin = shards[static_cast<size_t>(first)], end = shards[static_cast<size_t>(last)];
  return begin < end ? rows.between(begin / cols, ceil_div(end, cols)) : SparseGradient();
}

/// Recursive halving with distance doubling: a balanced binary tree over the ranks.
SparseGradient recursive_halving(distribute::Group& group, SparseGradient sum, const Bounds& shards,
                                 int64_t cols) {
  int first = 0, last = group.size();  // the shards that are left to this rank
  for (int bit = 1; bit < group.size(); bit *= 2) {
    const int middle = first + (last - first) / 2;
    SparseGradient lower = in_shards(sum, shards, first, middle, cols);
    SparseGradient upper = in_shards(sum, shards, middle, last, cols);
    const bool is_upper = group.rank() & bit;
    const int partner = group.rank() ^ bit;
    SparseGradient other =
        read(group.exchange(partner, written(is_upper ? lower : upper), partner), cols);
    sum = is_upper ? std::move(upper) : std::move(lower);
    (is_upper ? first : last) = middle;
    if (is_upper) std::swap(sum, other);  // the sum of the lower rank comes first
    sum.add(other);
  }
  return sum;
}

/// Adds the rows in the order of the ranks.
SparseGradient pairwise_exchange(distribute::Group& group, const SparseGradient& own,
                                 const Bounds& shards, int64_t cols) {
  const int rank = group.rank(), size = group.size();
  std::vector<SparseGradient> of_ranks(static_cast<size_t>(size));
  of_ranks[static_cast<size_t>(rank)] = in_shards(own, shards, rank, rank + 1, cols);
  for (int distance = 1; distance < size; ++distance) {
    const int to = (rank + distance) % size, from = (rank + size - distance) % size;
    const std::string out = written(in_shards(own, shards, to, to + 1, cols));
    of_ranks[static_cast<size_t>(from)] = read(group.exchange(to, out, from), cols);
  }
  for (size_t other = 1; other < of_ranks.size(); ++other) of_ranks[0].add(of_ranks[other]);
  return std::move(of_ranks[0]);
}

}  // namespace

SparseGradient sum_rows(distribute::Group& group, const SparseGradient& own, const Bounds& shards,
                        int64_t cols) {
  return std::has_single_bit(static_cast<unsigned>(group.size()))
             ? recursive_halving(group, own, shards, cols)
             : pairwise_exchange(group, own, shards, cols);
}

}  // namespace heed::train
