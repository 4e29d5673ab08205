#include "heed/distribute/collectives.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace heed::distribute {
namespace {

using Floats = std::span<float>;

bool is_power_of_two(int size) { return std::has_single_bit(static_cast<unsigned>(size)); }

size_t elements(const Bounds& bounds, int64_t shard) {
  return static_cast<size_t>(bounds[static_cast<size_t>(shard)]);
}

/// Shards [begin, end) of the values.
template <typename T>
std::span<T> shards_in(std::span<T> values, const Bounds& bounds, int begin, int end,
                       size_t width = 1) {
  const size_t first = elements(bounds, begin) * width;
  return values.subspan(first, elements(bounds, end) * width - first);
}

void add_to(std::span<const float> from, Floats sum) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += from[i];
}

/// The shards that are left to a rank after some steps of recursive halving.
struct Range {
  int begin, end;
  int middle() const { return begin + (end - begin) / 2; }
  /// The half of the rank whose bit is set or not.
  Range half(bool upper) const { return upper ? Range{middle(), end} : Range{begin, middle()}; }
};

/// A buffer for values of other ranks, which lives as long as the functions that add them.
using ReceiveBuffer = std::shared_ptr<float[]>;

CollectiveSchedule recursive_halving(const Messenger& messenger, Floats values,
                                     const Bounds& bounds) {
  const int rank = messenger.rank();
  Range range{0, messenger.size()};
  const Range half = range.half(rank & 1);  // the largest one that is received
  const ReceiveBuffer buffer(new float[shards_in(values, bounds, half.begin, half.end).size()]);
  CollectiveSchedule schedule;
  for (int bit = 1; bit < messenger.size(); bit *= 2) {
    const Range kept = range.half(rank & bit), sent = range.half(!(rank & bit));
    const Floats own = shards_in(values, bounds, kept.begin, kept.end);
    const Floats in(buffer.get(), own.size());
    schedule.push_back(
        {.exchange = {rank ^ bit, std::as_bytes(shards_in(values, bounds, sent.begin, sent.end)),
                      rank ^ bit, std::as_writable_bytes(in)},
         .then = [buffer, in, own] { add_to(in, own); }});
    range = kept;
  }
  return schedule;
}

CollectiveSchedule pairwise_exchange(const Messenger& messenger, Floats values,
                                     const Bounds& bounds) {
  const int rank = messenger.rank(), size = messenger.size();
  const Floats own = shards_in(values, bounds, rank, rank + 1);
  const ReceiveBuffer buffer(new float[own.size() * static_cast<size_t>(size)]);
  const auto part = [=](int of) {
    return Floats(buffer.get() + own.size() * static_cast<size_t>(of), own.size());
  };
  CollectiveSchedule schedule;
  for (int distance = 1; distance < size; ++distance) {
    const int to = (rank + distance) % size, from = (rank + size - distance) % size;
    schedule.push_back({.exchange = {to, std::as_bytes(shards_in(values, bounds, to, to + 1)), from,
                                     std::as_writable_bytes(part(from))}});
  }
  schedule.back().then = [=] {
    std::ranges::copy(own, part(rank).begin());
    std::ranges::copy(part(0), own.begin());
    for (int other = 1; other < size; ++other) add_to(part(other), own);
  };
  return schedule;
}

}  // namespace

CollectiveSchedule reduce_scatter(const Messenger& messenger, Floats values, const Bounds& shards) {
  return is_power_of_two(messenger.size()) ? recursive_halving(messenger, values, shards)
                                           : pairwise_exchange(messenger, values, shards);
}

CollectiveSchedule all_gather(const Messenger& messenger, std::span<std::byte> values,
                              const Bounds& shards, int64_t element_bytes) {
  const int rank = messenger.rank(), size = messenger.size();
  CollectiveSchedule schedule;
  const auto add_round = [&](int to, Range sent, int from, Range received) {
    const auto part = [&](Range range) {
      return shards_in(values, shards, range.begin, range.end, static_cast<size_t>(element_bytes));
    };
    schedule.push_back({.exchange = {to, part(sent), from, part(received)}});
  };
  if (is_power_of_two(size)) {
    // Recursive halving in reverse.
    Range range{0, size};
    for (int bit = 1; bit < size; bit *= 2) {
      const Range own = range.half(rank & bit);
      add_round(rank ^ bit, own, rank ^ bit, range.half(!(rank & bit)));
      range = own;
    }
    std::ranges::reverse(schedule);
    return schedule;
  }
  for (int distance = 1; distance < size; ++distance) {
    const int to = (rank + distance) % size, from = (rank + size - distance) % size;
    add_round(to, {rank, rank + 1}, from, {from, from + 1});
  }
  return schedule;
}

CollectiveSchedule all_reduce(const Messenger& messenger, Floats values) {
  constexpr size_t few = size_t{1} << 14;
  const int rank = messenger.rank(), size = messenger.size();
  if (is_power_of_two(size) && values.size() <= few) {
    CollectiveSchedule schedule;
    const ReceiveBuffer buffer(new float[values.size()]);
    const Floats in(buffer.get(), values.size());
    for (int bit = 1; bit < size; bit *= 2)
      schedule.push_back(
          {.exchange = {rank ^ bit, std::as_bytes(values), rank ^ bit, std::as_writable_bytes(in)},
           .then = [buffer, in, values] { add_to(in, values); }});
    return schedule;
  }
  Bounds shards;
  for (int shard = 0; shard <= size; ++shard)
    shards.push_back(static_cast<int64_t>(values.size()) * shard / size);
  CollectiveSchedule schedule = reduce_scatter(messenger, values, shards);
  std::ranges::move(all_gather(messenger, std::as_writable_bytes(values), shards, sizeof(float)),
                    std::back_inserter(schedule));
  return schedule;
}

void broadcast(Messenger& messenger, std::string& bytes) {
  const int rank = messenger.rank(), size = messenger.size();
  // A binomial tree: rank r receives the bytes in the step of its highest bit.
  uint64_t count = bytes.size();
  for (int bit = 1; bit < size; bit *= 2) {
    const bool sends = rank < bit && rank + bit < size;
    const bool receives = rank >= bit && rank < 2 * bit;
    const auto size_bytes = std::as_writable_bytes(std::span(&count, 1));
    if (sends) {
      messenger.exchange(rank + bit, size_bytes, rank + bit, {});
      messenger.exchange(rank + bit, std::as_bytes(std::span(bytes)), rank + bit, {});
    } else if (receives) {
      messenger.exchange(rank - bit, {}, rank - bit, size_bytes);
      bytes.resize(count);
      messenger.exchange(rank - bit, {}, rank - bit, std::as_writable_bytes(std::span(bytes)));
    }
  }
}

std::vector<double> all_gather(Messenger& messenger, std::span<const double> values) {
  const int size = messenger.size();
  const auto each = std::ssize(values);
  std::vector<double> shards(values.size() * static_cast<size_t>(size)), all;
  const auto shard_of = [&](int rank) { return shards.begin() + each * shard_of_rank(rank, size); };
  Bounds bounds;
  for (int shard = 0; shard <= size; ++shard) bounds.push_back(shard * each);
  std::ranges::copy(values, shard_of(messenger.rank()));
  messenger.run(
      all_gather(messenger, std::as_writable_bytes(std::span(shards)), bounds, sizeof(double)));
  for (int rank = 0; rank < size; ++rank)
    all.insert(all.end(), shard_of(rank), shard_of(rank) + each);
  return all;
}

std::string exchange(Messenger& messenger, int to, const std::string& out, int from) {
  uint64_t out_bytes = out.size(), in_bytes = 0;
  messenger.exchange(to, std::as_bytes(std::span(&out_bytes, 1)), from,
                     std::as_writable_bytes(std::span(&in_bytes, 1)));
  std::string in(in_bytes, '\0');
  messenger.exchange(to, std::as_bytes(std::span(out)), from,
                     std::as_writable_bytes(std::span(in)));
  return in;
}

void gather(Messenger& messenger, std::span<const float> values, std::span<const int64_t> counts,
            const std::function<void(int, std::span<const float>)>& take) {
  if (messenger.rank() != 0) {
    messenger.exchange(0, std::as_bytes(values), 0, {});
    return;
  }
  take(0, values);
  std::vector<float> part;
  for (int other = 1; other < messenger.size(); ++other) {
    part.resize(static_cast<size_t>(counts[static_cast<size_t>(other)]));
    messenger.exchange(other, {}, other, std::as_writable_bytes(Floats(part)));
    take(other, part);
  }
}

}  // namespace heed::distribute
