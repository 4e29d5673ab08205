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

/// A range of shards that recursive halving has left to a rank after some steps.
struct Range {
  int begin, end;
  int middle() const { return begin + (end - begin) / 2; }
  /// The half of the rank whose bit is set or not.
  Range half(bool upper) const { return upper ? Range{middle(), end} : Range{begin, middle()}; }
};

/// Values that arrive from other ranks.
class Received {
 public:
  explicit Received(size_t count) : values_(new float[count]) {}
  Floats part(size_t begin, size_t count) const { return {values_.get() + begin, count}; }

 private:
  std::shared_ptr<float[]> values_;  // of the functions that add them
};

Rounds halve(const Messenger& messenger, Floats values, const Bounds& bounds) {
  const int rank = messenger.rank();
  Range range{0, messenger.size()};
  const Range half = range.half(rank & 1);  // which holds all later ones
  const Received received(shards_in(values, bounds, half.begin, half.end).size());
  Rounds rounds;
  for (int bit = 1; bit < messenger.size(); bit *= 2) {
    const Range kept = range.half(rank & bit), sent = range.half(!(rank & bit));
    const Floats own = shards_in(values, bounds, kept.begin, kept.end);
    const Floats in = received.part(0, own.size());
    rounds.push_back(
        {.exchange = {rank ^ bit, std::as_bytes(shards_in(values, bounds, sent.begin, sent.end)),
                      rank ^ bit, std::as_writable_bytes(in)},
         .then = [received, in, own] { add_to(in, own); }});
    range = kept;
  }
  return rounds;
}

Rounds exchange_directly(const Messenger& messenger, Floats values, const Bounds& bounds) {
  const int rank = messenger.rank(), size = messenger.size();
  const Floats own = shards_in(values, bounds, rank, rank + 1);
  const Received received(own.size() * static_cast<size_t>(size));
  const auto part = [=](int of) {
    return received.part(own.size() * static_cast<size_t>(of), own.size());
  };
  Rounds rounds;
  for (int distance = 1; distance < size; ++distance) {
    const int to = (rank + distance) % size, from = (rank + size - distance) % size;
    rounds.push_back({.exchange = {to, std::as_bytes(shards_in(values, bounds, to, to + 1)), from,
                                   std::as_writable_bytes(part(from))}});
  }
  rounds.back().then = [=] {
    std::ranges::copy(own, part(rank).begin());
    std::ranges::copy(part(0), own.begin());
    for (int other = 1; other < size; ++other) add_to(part(other), own);
  };
  return rounds;
}

}  // namespace

Rounds reduce_scatter(const Messenger& messenger, Floats values, const Bounds& shards) {
  return is_power_of_two(messenger.size()) ? halve(messenger, values, shards)
                                           : exchange_directly(messenger, values, shards);
}

Rounds all_gather(const Messenger& messenger, std::span<std::byte> values, const Bounds& shards,
                  int64_t element_bytes) {
  const int rank = messenger.rank(), size = messenger.size();
  Rounds rounds;
  const auto exchange = [&](int to, Range sent, int from, Range received) {
    const auto part = [&](Range range) {
      return shards_in(values, shards, range.begin, range.end, static_cast<size_t>(element_bytes));
    };
    rounds.push_back({.exchange = {to, part(sent), from, part(received)}});
  };
  if (is_power_of_two(size)) {
    std::vector<Range> ranges{{0, size}};
    for (int bit = 1; bit < size; bit *= 2) ranges.push_back(ranges.back().half(rank & bit));
    for (int bit = size / 2, i = std::bit_width(static_cast<unsigned>(size)) - 2; i >= 0;
         bit /= 2, --i) {
      const Range range = ranges[static_cast<size_t>(i)];
      exchange(rank ^ bit, range.half(rank & bit), rank ^ bit, range.half(!(rank & bit)));
    }
    return rounds;
  }
  for (int distance = 1; distance < size; ++distance) {
    const int to = (rank + distance) % size, from = (rank + size - distance) % size;
    exchange(to, {rank, rank + 1}, from, {from, from + 1});
  }
  return rounds;
}

Rounds all_reduce(const Messenger& messenger, Floats values) {
  constexpr size_t few = size_t{1} << 14;
  const int rank = messenger.rank(), size = messenger.size();
  Rounds rounds;
  if (is_power_of_two(size) && values.size() <= few) {
    const Received received(values.size());
    const Floats in = received.part(0, values.size());
    for (int bit = 1; bit < size; bit *= 2)
      rounds.push_back(
          {.exchange = {rank ^ bit, std::as_bytes(values), rank ^ bit, std::as_writable_bytes(in)},
           .then = [received, in, values] { add_to(in, values); }});
    return rounds;
  }
  Bounds shards;
  for (int shard = 0; shard <= size; ++shard)
    shards.push_back(static_cast<int64_t>(values.size()) * shard / size);
  rounds = reduce_scatter(messenger, values, shards);
  std::ranges::move(all_gather(messenger, std::as_writable_bytes(values), shards, sizeof(float)),
                    std::back_inserter(rounds));
  return rounds;
}

void broadcast(Messenger& messenger, std::string& bytes) {
  const int rank = messenger.rank(), size = messenger.size();
  // Rank r has the bytes from the step on whose bit is its highest; a binomial tree.
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

std::vector<double> gather(Messenger& messenger, std::span<const double> values) {
  const int rank = messenger.rank(), size = messenger.size();
  const size_t each = values.size();
  std::vector<double> all(each * static_cast<size_t>(size));
  std::ranges::copy(values, all.begin() + static_cast<std::ptrdiff_t>(each) * rank);
  Bounds bounds;
  for (int i = 0; i <= size; ++i) bounds.push_back(i * static_cast<int64_t>(each));
  const auto part = [&](int begin, int count) {
    return std::as_writable_bytes(shards_in(std::span(all), bounds, begin, begin + count));
  };
  if (is_power_of_two(size)) {
    for (int count = 1; count < size; count *= 2) {
      const int begin = rank / count * count;
      messenger.exchange(rank ^ count, part(begin, count), rank ^ count,
                         part(begin ^ count, count));
    }
    return all;
  }
  for (int distance = 1; distance < size; ++distance) {
    const int to = (rank + distance) % size, from = (rank + size - distance) % size;
    messenger.exchange(to, part(rank, 1), from, part(from, 1));
  }
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

void collect(Messenger& messenger, std::span<const float> values, std::span<const int64_t> counts,
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
